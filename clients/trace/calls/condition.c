/* Condition variables.  Their waits are events of the mutex's line. */
#define _GNU_SOURCE
#include "clients/trace/calls/condition.h"

#include "clients/trace/calls/hidden.h"
#include "clients/trace/calls/how.h"
#include "clients/trace/calls/mutex.h"
#include "clients/trace/calls/signals.h"
#include "clients/trace/core/codes.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/link.h"
#include "clients/trace/core/object.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/shared.h"
#include "clients/trace/core/shared.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/measure/hooks.h"
#include "clients/trace/replay/part.h"
#include "wire/event.h"
#include "wire/slot.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#undef UNTRACED_SITE
#define UNTRACED_SITE site_of_lock

struct wait {
    struct thread *thread;
    struct object *monitor, *condition;
    struct hold hold;
    struct signals_wait signals;
    uintptr_t site;
    int result;
};

static struct ref cause_again(struct thread *t, const char **why)
{
    const char *const reasons[] = {signals_several, signals_unrecorded, signals_elsewhere};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++)
        if (part_says(t, TYPE_WAKE, reasons[i], false))
            *why = reasons[i];
    return part_cause(t, TYPE_WAKE);
}

/* Returns whether a thread that signalled was not seen, or it is not known which of several signals woke it. */
static enum unseen reason_of(const char *why)
{
    return why == signals_several ? UNSEEN_SIGNAL : UNSEEN_THREAD;
}

/* *why: why it is not known which signal it was. */
static struct ref cause_of(const struct wait *w, const char **why)
{
    if (!LIKELY(!replays) && part_plays(w->thread))
        return cause_again(w->thread, why);
    return signals_cause(&w->signals, why);
}

/* After the real wait, or when it is cancelled: the mutex is ours again. */
static void wake(void *p)
{
    struct wait *w = p;
    struct thread *t = w->thread;
    int saved = errno;
    busy_begin(t);
    hooks_go_on(t, TYPE_WAIT);
    w->monitor->visit++;
    w->monitor->held = true;
    struct hold *hold = NULL;
    for (size_t i = 0; i < t->hold_count; i++)
        if (t->holds[i].object == w->monitor)
            hold = &t->holds[i];
    if (hold)
        hold->visit = w->monitor->visit;
    else
        hold = thread_push(t, w->monitor, w->hold.line);
    const char *why = NULL;
    bool timeout = w->result == ETIMEDOUT;
    struct ref cause = timeout ? (struct ref){0, 0} : cause_of(w, &why);
    /* (a thread that is not recorded may have woken this one: a recorded signal is not taken for it) */
    bool doubtful = why && (why == signals_unrecorded || !signals_are_ordered(&w->signals));
    signals_awaited(&w->signals);
    record_write(
        t,
        &(struct record){.shape = timeout ? TYPE_TIMEOUT : TYPE_WAKE,
                         .flags = (uint16_t)((cause.line ? RELATION_ORDER : RELATION_NONE) |
                                             (why ? SLOT_TEXT : 0) |
                                             (doubtful ? SLOT_DOUBT(reason_of(why)) : 0)),
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

static int really(pthread_cond_t *c, pthread_mutex_t *m, const clockid_t *clock,
                  const struct timespec *ts)
{
    return clock ? real.cond_clockwait(c, m, *clock, ts)
           : ts  ? real.cond_timedwait(c, m, ts)
                 : real.cond_wait(c, m);
}

/* Threads that wait beyond the end of a script.  The signals that are in it were not theirs. */
static _Atomic unsigned beyond;

static int wait_beyond(pthread_cond_t *c, pthread_mutex_t *m, const clockid_t *clock,
                       const struct timespec *ts)
{
    atomic_fetch_add(&beyond, 1);
    int result = really(c, m, clock, ts);
    atomic_fetch_sub(&beyond, 1);
    return result;
}

/* As it was: the script says when it was woken, or gave up. */
static __attribute__((noinline)) int wait_again(struct wait *w, pthread_cond_t *c,
                                                pthread_mutex_t *m, const clockid_t *clock,
                                                const struct timespec *ts)
{
    enum trace_type ends = part_type(w->thread, 0);
    bool odd = clock && *clock != CLOCK_REALTIME && *clock != CLOCK_MONOTONIC;
    if (ends == TYPE_NONE)
        return wait_beyond(c, m, clock, ts);
    if ((ends != TYPE_WAKE && ends != TYPE_TIMEOUT) || odd || (ts && !how_is_time(ts)))
        return really(c, m, clock, ts); /* which may be an error */
    real.mutex_unlock(m);
    part_await(w->thread, ends);
    int result = real.mutex_lock(m);
    return result == 0 && ends == TYPE_TIMEOUT ? ETIMEDOUT : result;
}

/* An unrecorded wait gives the mutex away and takes it back: the books only. */
static int unrecorded_wait(pthread_cond_t *c, pthread_mutex_t *m, const clockid_t *clock,
                           const struct timespec *ts)
{
    struct object *o = hidden_object(m, OBJECT_MONITOR);
    if (o)
        hidden_gives(o);
    int result = really(c, m, clock, ts);
    if (o) {
        hidden_takes_alone(o);
        hidden_doubt(o); /* it may follow a signal without the mutex */
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

int follow_wait(uintptr_t site, pthread_cond_t *c, pthread_mutex_t *m, const clockid_t *clock,
                const struct timespec *ts)
{
    real_find();
    struct thread *t = thread_at(site);
    struct object *o = t ? object_find(m, OBJECT_MONITOR) : NULL;
    struct hold *hold = o ? thread_hold(t, o) : NULL;
    if (!hold && t && site) {
        hold = follow_held(site, t, m);
        o = hold ? hold->object : NULL;
    }
    struct object *condition = hold ? object_get(c, OBJECT_CONDITION) : NULL;
    if (!condition)
        return unrecorded_wait(c, m, clock, ts);
    int saved = errno;
    struct line *about = object_line(t, condition, false);
    struct wait w = {
        .thread = t, .monitor = o, .condition = condition, .hold = *hold, .site = site};
    record_event(t, ts ? TYPE_TIMED_WAIT : TYPE_WAIT, hold->line,
                 about ? atomic_load(&about->index) : 0, site);
    /* (A run that is led may have held the thread in the record until a signal was made.) */
    busy_begin(t); /* a handler may want the same latch */
    w.signals = signals_await(condition, o, is_shared(c));
    busy_end(t);
    hooks_wait(t, TYPE_WAIT, site);
    o->held = false;
    pthread_cleanup_push(wake, &w);
    errno = saved;
    w.result = LIKELY(!replays) ? really(c, m, clock, ts) : wait_again(&w, c, m, clock, ts);
    pthread_cleanup_pop(1);
    return w.result;
}

ENTRY(int, pthread_cond_wait, (pthread_cond_t * c, pthread_mutex_t *m), c, m)
{
    return follow_wait(site, c, m, NULL, NULL);
}

ENTRY(int, pthread_cond_timedwait,
      (pthread_cond_t * c, pthread_mutex_t *m, const struct timespec *ts), c, m, ts)
{
    return follow_wait(site, c, m, NULL, ts);
}

ENTRY(int, pthread_cond_clockwait,
      (pthread_cond_t * c, pthread_mutex_t *m, clockid_t clock, const struct timespec *ts), c, m,
      clock, ts)
{
    return follow_wait(site, c, m, &clock, ts);
}

/* Returns the condition variable where the call is to be ended by signals_made(). */
static struct object *record_signal(struct thread *t, uintptr_t site, pthread_cond_t *c,
                                    bool broadcast)
{
    struct object *o = object_get(c, OBJECT_CONDITION);
    if (!o)
        return NULL;
    int saved = errno;
    struct line *about = object_line(t, o, false), *place = thread_place(t);
    uint64_t number = record_write(t,
                                   &(struct record){.shape = TYPE_SIGNAL,
                                                    .flags = broadcast ? SLOT_TEXT : 0,
                                                    .a = place,
                                                    .take_a = 1,
                                                    .about = about ? atomic_load(&about->index) : 0,
                                                    .site = site,
                                                    .payload = "broadcast",
                                                    .payload_bytes = broadcast ? 9 : 0},
                                   NULL);
    busy_begin(t); /* a handler may want the same latch */
    bool bare =
        signals_add(o, t, line_index(t->own),
                    number ? (struct ref){line_index(place), number} : (struct ref){0, 0},
                    is_shared(c));
    busy_end(t);
    note_recorded();
    errno = saved;
    return bare ? o : NULL;
}

/* One that other processes share may wake a thread there, though this process has not met it. */
static struct object *signalled(pthread_cond_t *c, bool shared)
{
    struct object *o = object_find(c, OBJECT_CONDITION);
    if (!shared)
        return o && atomic_load_explicit(&o->signals, memory_order_relaxed) ? o : NULL;
    if (!o && atomic_load(&live))
        o = object_get(c, OBJECT_CONDITION);
    if (o)
        shared_find(o);
    return o;
}

/* It may have woken a thread that is recorded, all the same. */
static struct object *count_signal(pthread_cond_t *c)
{
    struct thread *t = thread_mine;
    bool busy = t && t->busy; /* a handler within a call of ours: it is counted as not followed */
    int saved = errno;
    bool shared = is_shared(c);
    struct object *o = busy ? NULL : signalled(c, shared);
    t = o ? thread_self() : NULL;
    if (t)
        busy_begin(t);
    bool bare = o && signals_add(o, t, 0, (struct ref){0, 0}, shared);
    if (t)
        busy_end(t);
    errno = saved;
    return bare ? o : NULL;
}

int follow_signal(uintptr_t site, pthread_cond_t *c, bool broadcast)
{
    real_find();
    struct thread *t = site ? thread_recording() : NULL;
    bool again = !LIKELY(!replays) && t && part_type(t, 0) != TYPE_NONE;
    struct object *bare = t ? record_signal(t, site, c, broadcast) : count_signal(c);
    int result = 0;
    if (LIKELY(!again) || !atomic_load(&beyond)) /* else the threads that it woke are awake */
        result = broadcast ? real.cond_broadcast(c) : real.cond_signal(c);
    if (bare)
        signals_made(bare);
    return result;
}

ENTRY(int, pthread_cond_signal, (pthread_cond_t * c), c) { return follow_signal(site, c, false); }

ENTRY(int, pthread_cond_broadcast, (pthread_cond_t * c), c) { return follow_signal(site, c, true); }

/* What comes at that address is another one. */
static void another(pthread_cond_t *c)
{
    struct object *o = object_find(c, OBJECT_CONDITION);
    if (o)
        signals_renew(o);
    object_destroy(c, OBJECT_CONDITION);
}

ENTRY(int, pthread_cond_init, (pthread_cond_t * c, const pthread_condattr_t *attributes), c,
      attributes)
{
    real_find();
    int result = real.cond_init(c, attributes);
    if (result == 0) {
        another(c);
        shared_initialised(c, OBJECT_CONDITION);
    }
    (void)site;
    return result;
}

ENTRY(int, pthread_cond_destroy, (pthread_cond_t * c), c)
{
    real_find();
    int result = real.cond_destroy(c);
    if (result == 0)
        another(c);
    (void)site;
    return result;
}
