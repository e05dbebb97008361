/* pthread_once: the end of the initialiser is before each thread's first return; that of one which throws,
 * or is cancelled, before the start of the next one. */
#define _GNU_SOURCE
#include "clients/trace/calls/once.h"

#include "clients/trace/calls/hidden.h"
#include "clients/trace/core/codes.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/object.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/slots.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/replay/part.h"
#include "wire/event.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>

struct once_call {
    void (*function)(void);
    struct object *object; /* NULL: it is not recorded */
    uintptr_t site;
    bool ran; /* by this call */
};

static struct ref here(struct thread *t, uint16_t type, const struct once_call *c, struct ref after)
{
    struct line *place = thread_place(t);
    uint64_t number = record_write(t,
                                   &(struct record){.shape = type,
                                                    .flags = after.line ? RELATION_ORDER
                                                                        : RELATION_NONE,
                                                    .a = place,
                                                    .take_a = 1,
                                                    .about = atomic_load(&c->object->line.index),
                                                    .site = c->site,
                                                    .partner = after},
                                   NULL);
    return number ? (struct ref){atomic_load(&place->index), number} : (struct ref){0, 0};
}

/* The initialiser that a thread is in. */
struct running {
    struct thread *thread;
    struct object *object;
    bool returned;
};

/* What the thread did last in it is where it ended. */
static void leave_initialiser(struct running *r)
{
    struct object *o = r->object;
    if (r->returned || thread_recording() != r->thread)
        return;
    o->initialised = slots_last(r->thread);
    o->initialised_life = r->thread->life;
    o->thrown = true;
    atomic_thread_fence(memory_order_seq_cst);
}

/* Called by the real pthread_once in place of the initialiser. */
static void initialise(void)
{
    struct thread *t = thread_mine;
    struct once_call c = *t->once; /* it may call us again */
    t->once->ran = true;
    if (!c.object) {
        c.function();
        return;
    }
    struct object *o = c.object;
    bool thrown = o->thrown && o->initialised_life == t->life;
    o->thrown = false;
    if (thread_recording())
        here(t, TYPE_INITIALISE, &c, thrown ? o->initialised : (struct ref){0, 0});
    __attribute__((cleanup(leave_initialiser))) struct running running = {t, o, false};
    c.function();
    running.returned = true;
    int saved = errno;
    if (thread_recording() == t) {
        c.object->initialised = here(t, TYPE_INITIALISED, &c, (struct ref){0, 0});
        c.object->initialised_life = t->life;
    }
    errno = saved;
}

/* Whether the initialiser has run.  Where we cannot look, the thread asks again and again. */
static bool is_done(const pthread_once_t *flag)
{
#ifdef __GLIBC__
    return (__atomic_load_n(flag, __ATOMIC_ACQUIRE) & 2) != 0;
#else
    return false;
#endif
}

static bool remembered(const struct thread *t, const struct object *o)
{
    for (unsigned i = 0; i < ONCE_REMEMBERED; i++)
        if (t->ready[i] == o)
            return true;
    return false;
}

static void remember(struct thread *t, const struct object *o)
{
    if (!remembered(t, o))
        t->ready[t->ready_next++ % ONCE_REMEMBERED] = o;
}

/* By code that is not recorded.  Where another thread ran the initialiser, that is before what this
 * one does next. */
static __attribute__((noinline)) int once_unrecorded(pthread_once_t *flag, void (*function)(void))
{
    struct thread *t = thread_self();
    struct object *o = t ? hidden_object(flag, OBJECT_ONCE) : NULL;
    if (!o || (remembered(t, o) && is_done(flag)))
        return real.once(flag, function);
    struct once_call call = {.function = function};
    t->once = &call;
    int result = real.once(flag, initialise);
    if (!call.ran)
        hidden_doubt(o);
    remember(t, o);
    return result;
}

int follow_once(uintptr_t site, pthread_once_t *flag, void (*function)(void))
{
    real_find();
    struct thread *t = site ? thread_recording() : NULL;
    struct object *o = t ? object_get(flag, OBJECT_ONCE) : NULL;
    if (!o)
        return once_unrecorded(flag, function);
    if (remembered(t, o) && is_done(flag))
        return real.once(flag, function);
    int saved = errno;
    struct line *line = object_line(t, o, false);
    if (!line)
        return once_unrecorded(flag, function);
    struct once_call call = {function, o, site, false};
    record_event(t, TYPE_PETITION, thread_place(t), atomic_load(&line->index), site);
    t->once = &call;
    errno = saved;
    if (!LIKELY(!replays) && part_type(t, 0) == TYPE_READY)
        part_await(t, TYPE_READY); /* another one initialises it */
    int result = real.once(flag, initialise);
    saved = errno;
    if (thread_recording() == t) {
        struct ref end = o->initialised_life == t->life ? o->initialised : (struct ref){0, 0};
        if (!call.ran && !o->initialised_life)
            hidden_doubt(o); /* code that is not recorded had it run */
        record_write(t,
                     &(struct record){.shape = TYPE_READY,
                                      .flags = end.line ? RELATION_ORDER : RELATION_NONE,
                                      .a = thread_place(t),
                                      .take_a = 1,
                                      .about = atomic_load(&line->index),
                                      .site = site,
                                      .partner = end},
                     NULL);
        remember(t, o);
    }
    note_recorded();
    errno = saved;
    return result;
}

ENTRY(int, pthread_once, (pthread_once_t * flag, void (*function)(void)), flag, function)
{
    return follow_once(site, flag, function);
}
