/* One-time initialization (pthread_once, call_once): the end of the initializer comes before each
 * thread's first return; that of one which throws, or is cancelled, before the start of the next
 * one. */
#define _GNU_SOURCE
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/interpose/hidden_uses.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/ring_slots.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/replay/thread_schedule.h"
#include "wire/event_types.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <threads.h>

struct once_call {
    void (*function)(void);
    struct sync_object *object; /* NULL: it is not recorded */
    uintptr_t site;
    bool ran; /* by this call */
};

static struct event_id once_call_record_here(struct traced_thread *t, uint16_t type,
                                             const struct once_call *c, struct event_id after)
{
    struct trace_line *place = thread_place(t);
    uint64_t number =
        record_write(t,
                     &(struct record){.shape = type,
                                      .flags = after.line ? RELATION_ORDER : RELATION_NONE,
                                      .a = place,
                                      .take_a = 1,
                                      .about = atomic_load(&c->object->line.index),
                                      .site = c->site,
                                      .partner = after},
                     NULL);
    return number ? (struct event_id){atomic_load(&place->index), number} : (struct event_id){0, 0};
}

/* The initializer that a thread is in. */
struct once_running {
    struct traced_thread *thread;
    struct sync_object *object;
    bool returned;
};

/* The thread's last event in it is where it ended. */
static void once_call_end_initializer(struct once_running *r)
{
    struct sync_object *o = r->object;
    if (r->returned || thread_recording() != r->thread)
        return;
    o->initialised = ring_slots_last(r->thread);
    o->initialised_life = r->thread->life;
    o->thrown = true;
    atomic_thread_fence(memory_order_seq_cst);
}

/* Called by the real pthread_once in place of the initializer. */
static void once_call_run_initializer(void)
{
    struct traced_thread *t = thread_mine;
    struct once_call c = *t->once_calls.running; /* it may call pthread_once again */
    t->once_calls.running->ran = true;
    if (!c.object) {
        c.function();
        return;
    }
    struct sync_object *o = c.object;
    bool thrown = o->thrown && o->initialised_life == t->life;
    o->thrown = false;
    if (thread_recording())
        once_call_record_here(t, TYPE_INITIALIZE, &c,
                              thrown ? o->initialised : (struct event_id){0, 0});
    __attribute__((cleanup(once_call_end_initializer))) struct once_running running = {t, o, false};
    c.function();
    running.returned = true;
    int saved = errno;
    if (thread_recording() == t) {
        c.object->initialised =
            once_call_record_here(t, TYPE_INITIALIZED, &c, (struct event_id){0, 0});
        c.object->initialised_life = t->life;
    }
    errno = saved;
}

/* Returns whether the initializer has run. If that cannot be checked, the thread asks each time. */
static bool is_done(const pthread_once_t *flag)
{
#ifdef __GLIBC__
    return (__atomic_load_n(flag, __ATOMIC_ACQUIRE) & 2) != 0;
#else
    return false;
#endif
}

static bool once_call_is_remembered(const struct thread_once *calls, const struct sync_object *o)
{
    for (unsigned i = 0; i < ONCE_REMEMBERED; i++)
        if (calls->ready[i] == o)
            return true;
    return false;
}

static void once_call_remember(struct thread_once *calls, const struct sync_object *o)
{
    if (!once_call_is_remembered(calls, o))
        calls->ready[calls->ready_next++ % ONCE_REMEMBERED] = o;
}

/* Called by unrecorded code. If another thread ran the initializer, that comes before this thread's
 * next event. */
static __attribute__((noinline)) int once_call_untraced(pthread_once_t *flag,
                                                        void (*function)(void))
{
    struct traced_thread *t = thread_self();
    struct sync_object *o = t ? hidden_use_object(flag, SYNC_ONCE) : NULL;
    if (!o || (once_call_is_remembered(&t->once_calls, o) && is_done(flag)))
        return real_functions.once(flag, function);
    struct once_call call = {.function = function};
    t->once_calls.running = &call;
    int result = real_functions.once(flag, once_call_run_initializer);
    if (!call.ran)
        hidden_use_mark_uncertain(o);
    once_call_remember(&t->once_calls, o);
    return result;
}

static int once_call_trace(uintptr_t site, pthread_once_t *flag, void (*function)(void))
{
    real_find();
    struct traced_thread *t = site ? thread_recording() : NULL;
    struct sync_object *o = t ? sync_object_get(flag, SYNC_ONCE) : NULL;
    if (!o)
        return once_call_untraced(flag, function);
    if (once_call_is_remembered(&t->once_calls, o) && is_done(flag))
        return real_functions.once(flag, function);
    int saved = errno;
    struct trace_line *line = sync_object_line(t, o, false);
    if (!line)
        return once_call_untraced(flag, function);
    struct once_call call = {function, o, site, false};
    record_request(t, TYPE_ACQUIRE, thread_place(t), atomic_load(&line->index), site);
    t->once_calls.running = &call;
    errno = saved;
    /* another one initializes it */
    if (thread_schedule_next_type(t, 0) == TYPE_READY)
        thread_schedule_wait(t, TYPE_READY);
    int result = real_functions.once(flag, once_call_run_initializer);
    saved = errno;
    if (thread_recording() == t) {
        struct event_id end =
            o->initialised_life == t->life ? o->initialised : (struct event_id){0, 0};
        /* unrecorded code ran it */
        if (!call.ran && !o->initialised_life)
            hidden_use_mark_uncertain(o);
        record_write(t,
                     &(struct record){.shape = TYPE_READY,
                                      .flags = end.line ? RELATION_ORDER : RELATION_NONE,
                                      .a = thread_place(t),
                                      .take_a = 1,
                                      .about = atomic_load(&line->index),
                                      .site = site,
                                      .partner = end},
                     NULL);
        once_call_remember(&t->once_calls, o);
    }
    record_mark_nonempty();
    errno = saved;
    return result;
}

ENTRY(int, pthread_once, (pthread_once_t * flag, void (*function)(void)), flag, function)
{
    return once_call_trace(site, flag, function);
}

ENTRY_VOID(call_once, (once_flag * flag, void (*function)(void)), flag, function)
{
    once_call_trace(site, (pthread_once_t *)flag, function);
}
