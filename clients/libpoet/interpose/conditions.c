/* Waiting on condition variables and waking, by whichever name. Their waits are events of the
 * mutex's line. */
#define _GNU_SOURCE
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/interpose/hidden_uses.h"
#include "clients/libpoet/interpose/call_variant.h"
#include "clients/libpoet/interpose/mutexes.h"
#include "clients/libpoet/interpose/unchecked_waits.h"
#include "clients/libpoet/interpose/condition_signals.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/shared_objects.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/wait_stack.h"
#include "clients/libpoet/profile/instrument_hooks.h"
#include "clients/libpoet/replay/thread_schedule.h"
#include "wire/annotation_text.h"
#include "wire/event_types.h"
#include "wire/slot.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <threads.h>
#include <time.h>

#undef UNTRACED_SITE
#define UNTRACED_SITE site_of_lock

struct condition_wait {
    struct traced_thread *thread;
    struct sync_object *monitor, *condition;
    struct object_hold hold;
    struct condition_signals_wait signals;
    uintptr_t site;
    int result;
};

static struct event_id condition_replay_cause(struct traced_thread *t, const char **why)
{
    const char *const reasons[] = {condition_signals_several, condition_signals_unrecorded,
                                   condition_signals_elsewhere};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (thread_schedule_next_has_text(t, TYPE_WAKE, reasons[i], false))
            *why = reasons[i];
    return thread_schedule_next_cause(t, TYPE_WAKE);
}

/* Returns whether a signalling thread was not recorded, or it is not known which of several signals
 * woke it. */
static enum untraced_reason condition_wake_reason(const char *why)
{
    return why == condition_signals_several ? UNTRACED_SIGNAL : UNTRACED_THREAD;
}

/* *why: why the signal is not known. */
static struct event_id condition_wake_cause(const struct condition_wait *w, const char **why)
{
    if (thread_schedule_active(w->thread))
        return condition_replay_cause(w->thread, why);
    return condition_signals_cause(&w->signals, why);
}

/* Called after the real wait, or when it is cancelled: the thread holds the mutex again. */
static void condition_end_wait(void *p)
{
    struct condition_wait *w = p;
    struct traced_thread *t = w->thread;
    int saved = errno;
    busy_begin(t);
    instrument_wait_end(t, TYPE_WAIT);
    w->monitor->visit++;
    w->monitor->held = true;
    struct object_hold *hold = NULL;
    for (size_t i = 0; i < t->hold_stack.count; i++)
        if (t->hold_stack.holds[i].object == w->monitor)
            hold = &t->hold_stack.holds[i];
    if (hold)
        hold->visit = w->monitor->visit;
    else
        hold = thread_push(t, w->monitor, w->hold.line);
    if (hold)
        hold->site = w->site;
    const char *why = NULL;
    bool timeout = w->result == ETIMEDOUT;
    struct event_id cause = timeout ? (struct event_id){0, 0} : condition_wake_cause(w, &why);
    /* (a thread that is not recorded may have woken this one: a recorded signal is not taken for
     * it) */
    bool doubtful =
        why && (why == condition_signals_unrecorded || !condition_signals_are_ordered(&w->signals));
    condition_signals_wait_end(&w->signals);
    record_write(t,
                 &(struct record){
                     .shape = timeout ? TYPE_TIMEOUT : TYPE_WAKE,
                     .flags = (uint16_t)((cause.line ? RELATION_ORDER : RELATION_NONE) |
                                         (why ? SLOT_TEXT : 0) |
                                         (doubtful ? SLOT_DOUBT(condition_wake_reason(why)) : 0)),
                     .a = w->hold.line,
                     .take_a = 1,
                     .about = atomic_load(&w->condition->line.index),
                     .site = w->site,
                     .partner = cause,
                     .payload = why,
                     .payload_bytes = why ? (uint32_t)strlen(why) : 0},
                 NULL);
    busy_end(t);
    errno = saved;
}

static int condition_call_real(pthread_cond_t *c, pthread_mutex_t *m, const clockid_t *clock,
                               const struct timespec *ts)
{
    return clock ? real_functions.cond_clockwait(c, m, *clock, ts)
           : ts  ? real_functions.cond_timedwait(c, m, ts)
                 : real_functions.cond_wait(c, m);
}

/* Threads that wait beyond the end of a schedule, to which the recorded signals do not belong. */
static _Atomic unsigned condition_waits_later;

static int condition_wait_later(pthread_cond_t *c, pthread_mutex_t *m, const clockid_t *clock,
                                const struct timespec *ts)
{
    atomic_fetch_add(&condition_waits_later, 1);
    int result = condition_call_real(c, m, clock, ts);
    atomic_fetch_sub(&condition_waits_later, 1);
    return result;
}

/* Replays a wait: the schedule says when it was woken, or timed out. */
static __attribute__((noinline)) int condition_replay_wait(struct condition_wait *w,
                                                           pthread_cond_t *c, pthread_mutex_t *m,
                                                           const clockid_t *clock,
                                                           const struct timespec *ts)
{
    enum trace_type ends = thread_schedule_next_type(w->thread, 0);
    bool odd = clock && *clock != CLOCK_REALTIME && *clock != CLOCK_MONOTONIC;
    if (ends == TYPE_NONE)
        return condition_wait_later(c, m, clock, ts);
    if ((ends != TYPE_WAKE && ends != TYPE_TIMEOUT) || odd ||
        (ts && !call_variant_is_valid_time(ts)))
        return condition_call_real(c, m, clock, ts); /* which may be an error */
    real_functions.mutex_unlock(m);
    thread_schedule_wait(w->thread, ends);
    int result = real_functions.mutex_lock(m);
    return result == 0 && ends == TYPE_TIMEOUT ? ETIMEDOUT : result;
}

/* An unrecorded wait releases and acquires the mutex: only the state is updated. */
static int condition_wait_untraced(pthread_cond_t *c, pthread_mutex_t *m, const clockid_t *clock,
                                   const struct timespec *ts)
{
    struct sync_object *o = hidden_use_object(m, SYNC_MUTEX);
    if (o)
        hidden_use_release(o);
    int result = condition_call_real(c, m, clock, ts);
    if (o) {
        hidden_use_acquire_exclusive(o);
        hidden_use_mark_uncertain(o); /* it may follow a signal without the mutex */
    }
    return result;
}

static bool is_shared(const pthread_cond_t *c)
{
#ifdef __GLIBC__
    return (__atomic_load_n(&c->__data.__wrefs, __ATOMIC_RELAXED) & 1) != 0;
#else
    return false;
#endif
}

/* Records that a thread waits; of a wait that no test precedes, the first time, that it is one. */
static void condition_record_wait(struct traced_thread *t, uint16_t type,
                                  const struct object_hold *hold, uint32_t about, uintptr_t site)
{
    struct slot_stack stack;
    if (LIKELY(!unchecked_wait_is_new(hold->site, site))) {
        record_request(t, type, hold->line, about, site);
        return;
    }
    record_write(t,
                 &(struct record){.shape = type,
                                  .flags = SLOT_TEXT,
                                  .a = hold->line,
                                  .take_a = 1,
                                  .about = about,
                                  .site = site,
                                  .payload = TEXT_UNCHECKED,
                                  .payload_bytes = strlen(TEXT_UNCHECKED),
                                  .stack = wait_stack_read(site, &stack)},
                 NULL);
}

static int condition_wait_trace(uintptr_t site, pthread_cond_t *c, pthread_mutex_t *m,
                                const clockid_t *clock, const struct timespec *ts)
{
    real_find();
    struct traced_thread *t = thread_at(site);
    struct sync_object *o = t ? sync_object_find(m, SYNC_MUTEX) : NULL;
    struct object_hold *hold = o ? thread_hold(t, o) : NULL;
    if (!hold && t && site) {
        hold = mutex_held(site, t, m);
        o = hold ? hold->object : NULL;
    }
    struct sync_object *condition = hold ? sync_object_get(c, SYNC_CONDITION) : NULL;
    if (!condition)
        return condition_wait_untraced(c, m, clock, ts);
    int saved = errno;
    struct trace_line *about = sync_object_line(t, condition, false);
    struct condition_wait w = {
        .thread = t, .monitor = o, .condition = condition, .hold = *hold, .site = site};
    condition_record_wait(t, ts ? TYPE_TIMED_WAIT : TYPE_WAIT, hold,
                          about ? atomic_load(&about->index) : 0, site);
    /* (Schedule control may have held the thread in the record until a signal was made.) */
    busy_begin(t); /* a handler may want the same latch */
    w.signals = condition_signals_wait_begin(condition, o, is_shared(c));
    busy_end(t);
    instrument_wait_begin(t, TYPE_WAIT, site);
    o->held = false;
    pthread_cleanup_push(condition_end_wait, &w);
    errno = saved;
    w.result = LIKELY(!replay_is_active()) ? condition_call_real(c, m, clock, ts)
                                           : condition_replay_wait(&w, c, m, clock, ts);
    pthread_cleanup_pop(1);
    return w.result;
}

ENTRY(int, pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t *m), c, m)
{
    return condition_wait_trace(site, c, m, NULL, NULL);
}

ENTRY(int, pthread_cond_timedwait,
      (pthread_cond_t * c, pthread_mutex_t *m, const struct timespec *ts), c, m, ts)
{
    return condition_wait_trace(site, c, m, NULL, ts);
}

ENTRY(int, pthread_cond_clockwait,
      (pthread_cond_t * c, pthread_mutex_t *m, clockid_t clock, const struct timespec *ts), c, m,
      clock, ts)
{
    return condition_wait_trace(site, c, m, &clock, ts);
}

static bool condition_is_awaited(const pthread_cond_t *c)
{
#ifdef __GLIBC__
    return __atomic_load_n(&c->__data.__wrefs, __ATOMIC_RELAXED) >> 3 != 0;
#else
    return c && false;
#endif
}

/* Returns the condition variable where the call is to be ended by condition_signals_call_end(). */
static struct sync_object *record_signal(struct traced_thread *t, uintptr_t site, pthread_cond_t *c,
                                         bool broadcast)
{
    struct sync_object *o = sync_object_get(c, SYNC_CONDITION);
    if (!o)
        return NULL;
    int saved = errno;
    struct trace_line *about = sync_object_line(t, o, false), *place = thread_place(t);
    struct slot_stack stack;
    uint64_t number = record_write(
        t,
        &(struct record){.shape = TYPE_SIGNAL,
                         .flags = broadcast ? SLOT_TEXT : 0,
                         .a = place,
                         .take_a = 1,
                         .about = about ? atomic_load(&about->index) : 0,
                         .site = site,
                         .payload = "broadcast",
                         .payload_bytes = broadcast ? 9 : 0,
                         .stack = condition_is_awaited(c) ? wait_stack_read(site, &stack) : NULL},
        NULL);
    busy_begin(t); /* a handler may want the same latch */
    bool bare = condition_signals_add(o, t, trace_line_index(t->own),
                                      number ? (struct event_id){trace_line_index(place), number}
                                             : (struct event_id){0, 0},
                                      is_shared(c));
    busy_end(t);
    record_mark_nonempty();
    errno = saved;
    return bare ? o : NULL;
}

/* A shared condition variable may wake a thread in another process, even if this process has not
 * used it. */
static struct sync_object *condition_find_signaled(pthread_cond_t *c, bool shared)
{
    struct sync_object *o = sync_object_find(c, SYNC_CONDITION);
    if (!shared)
        return o && atomic_load_explicit(&o->signals, memory_order_relaxed) ? o : NULL;
    if (!o && atomic_load(&tracer.lifetime.number))
        o = sync_object_get(c, SYNC_CONDITION);
    if (o)
        shared_object_find(o);
    return o;
}

/* It may still have woken a recorded thread. */
static struct sync_object *condition_count_signal(pthread_cond_t *c)
{
    struct traced_thread *t = thread_mine;
    bool busy = t && t->busy; /* a handler within a call of libpoet's: it counts as untraced */
    int saved = errno;
    bool shared = is_shared(c);
    struct sync_object *o = busy ? NULL : condition_find_signaled(c, shared);
    t = o ? thread_self() : NULL;
    if (t)
        busy_begin(t);
    bool bare = o && condition_signals_add(o, t, 0, (struct event_id){0, 0}, shared);
    if (t)
        busy_end(t);
    errno = saved;
    return bare ? o : NULL;
}

static int condition_signal_trace(uintptr_t site, pthread_cond_t *c, bool broadcast)
{
    real_find();
    struct traced_thread *t = site ? thread_recording() : NULL;
    bool again = thread_schedule_next_type(t, 0) != TYPE_NONE;
    struct sync_object *bare = t ? record_signal(t, site, c, broadcast) : condition_count_signal(c);
    int result = 0;
    /* otherwise the threads that it woke are awake */
    if (LIKELY(!again) || !atomic_load(&condition_waits_later))
        result = broadcast ? real_functions.cond_broadcast(c) : real_functions.cond_signal(c);
    if (bare)
        condition_signals_call_end(bare);
    return result;
}

ENTRY(int, pthread_cond_signal, (pthread_cond_t * c), c)
{
    return condition_signal_trace(site, c, false);
}

ENTRY(int, pthread_cond_broadcast, (pthread_cond_t * c), c)
{
    return condition_signal_trace(site, c, true);
}

/* From now on another condition variable is at that address. */
static void condition_renew(pthread_cond_t *c)
{
    struct sync_object *o = sync_object_find(c, SYNC_CONDITION);
    if (o)
        condition_signals_renew(o);
    sync_object_destroy(c, SYNC_CONDITION);
}

ENTRY(int, pthread_cond_init, (pthread_cond_t * c, const pthread_condattr_t *attributes), c,
      attributes)
{
    real_find();
    int result = real_functions.cond_init(c, attributes);
    if (result == 0) {
        condition_renew(c);
        shared_object_initialized(c, SYNC_CONDITION);
    }
    (void)site;
    return result;
}

ENTRY(int, pthread_cond_destroy, (pthread_cond_t * c), c)
{
    real_find();
    sync_object_record_destroy(c, SYNC_CONDITION, site);
    /* it waits until all waiters that were woken have left */
    thread_futex_begin(
        site ? thread_recording() : NULL,
        (struct futex_wait){(uintptr_t)c, site, (uintptr_t)real_functions.cond_destroy, 0});
    int result = real_functions.cond_destroy(c);
    thread_futex_end();
    if (result == 0)
        condition_renew(c);
    return result;
}

/* ---- <threads.h> ---- */

ENTRY(int, cnd_init, (cnd_t * c), c)
{
    return call_variant_c11_result(trace_pthread_cond_init(site, (pthread_cond_t *)c, NULL));
}

ENTRY_VOID(cnd_destroy, (cnd_t * c), c) { trace_pthread_cond_destroy(site, (pthread_cond_t *)c); }

ENTRY(int, cnd_wait, (cnd_t * c, mtx_t *m), c, m)
{
    return call_variant_c11_result(
        condition_wait_trace(site, (pthread_cond_t *)c, (pthread_mutex_t *)m, NULL, NULL));
}

ENTRY(int, cnd_timedwait, (cnd_t * c, mtx_t *m, const struct timespec *ts), c, m, ts)
{
    return call_variant_c11_result(
        condition_wait_trace(site, (pthread_cond_t *)c, (pthread_mutex_t *)m, NULL, ts));
}

ENTRY(int, cnd_signal, (cnd_t * c), c)
{
    return call_variant_c11_result(condition_signal_trace(site, (pthread_cond_t *)c, false));
}

ENTRY(int, cnd_broadcast, (cnd_t * c), c)
{
    return call_variant_c11_result(condition_signal_trace(site, (pthread_cond_t *)c, true));
}
