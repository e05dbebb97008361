/* Mutexes and spin locks. A call that may block is tried first, so that acquiring a free lock is
 * one record, and otherwise the lock request is recorded before the thread blocks. */
#define _GNU_SOURCE
#include "clients/libpoet/interpose/mutexes.h"

#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/interpose/call_variant.h"
#include "clients/libpoet/interpose/hidden_uses.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/wait_stack.h"
#include "clients/libpoet/profile/instrument_hooks.h"
#include "clients/libpoet/replay/held_points.h"
#include "clients/libpoet/replay/thread_schedule.h"
#include "wire/slot.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#undef UNTRACED_SITE
#define UNTRACED_SITE site_of_lock

/* Records an acquisition or a release that was not traced itself, with the text that says why. */
static void mutex_record_inferred(struct traced_thread *t, uint16_t shape, struct trace_line *line,
                                  uintptr_t site, const char *text)
{
    record_write(t,
                 &(struct record){.shape = shape,
                                  .flags = SLOT_TEXT,
                                  .a = thread_place(t),
                                  .b = line,
                                  .take_a = 1,
                                  .take_b = 1,
                                  .site = site,
                                  .payload = text,
                                  .payload_bytes = (uint32_t)strlen(text)},
                 NULL);
}

/* Acquired for the first time by this thread: one record, or its second half. A trylock has no lock
 * request. */
static inline void record_entered(struct traced_thread *t, struct sync_object *o,
                                  struct trace_line *line, bool requested, bool died,
                                  uintptr_t site)
{
    busy_begin(t); /* a handler finds the thread before it or in it, not in between */
    /* the state in its process says so */
    bool elsewhere = died && atomic_load_explicit(&line->remote, memory_order_relaxed);
    hidden_use_check(o, t, true);
    if (UNLIKELY(o->held || elsewhere))
        mutex_record_inferred(t, SHAPE_LEAVE, line, site,
                              died ? "owner died" : "release by the previous owner not traced");
    o->held = true;
    o->visit++;
    record_pair(t, requested ? SHAPE_ENTER : SHAPE_LOCK, thread_place(t), requested ? 1 : 2, line,
                site);
    struct object_hold *hold = thread_push(t, o, line);
    if (LIKELY(hold != NULL))
        hold->site = site;
    busy_end(t);
    record_mark_nonempty();
    if (UNLIKELY(tracer.replay.has_hold_points))
        hold_point_after_lock(t);
}

static void mutex_record_relock(struct traced_thread *t, struct object_hold *hold, uintptr_t site)
{
    hold->depth++;
    record_write(t,
                 &(struct record){.shape = SHAPE_AGAIN,
                                  .a = hold->line,
                                  .take_a = 2,
                                  .about = atomic_load(&hold->line->index),
                                  .site = site},
                 NULL);
}

#define SPINS 64

struct mutex_call {
    enum sync_object_kind kind;
    enum call_variant how;
    void *lock;
    clockid_t clock;
    const struct timespec *ts;
};

static inline int mutex_call_try(const struct mutex_call *c)
{
    return c->kind == SYNC_SPIN_LOCK ? real_functions.spin_trylock(c->lock)
                                     : real_functions.mutex_trylock(c->lock);
}

static int mutex_call_lock(const struct mutex_call *c)
{
    if (c->how == CALL_VARIANT_TRY)
        return mutex_call_try(c);
    if (c->kind == SYNC_SPIN_LOCK)
        return real_functions.spin_lock(c->lock);
    return c->how == CALL_VARIANT_TIMED   ? real_functions.mutex_timedlock(c->lock, c->ts)
           : c->how == CALL_VARIANT_CLOCK ? real_functions.mutex_clocklock(c->lock, c->clock, c->ts)
                                          : real_functions.mutex_lock(c->lock);
}

/* Recording makes short critical sections longer, so that threads contend more often: spins for
 * about the length of one before blocking in the kernel. */
static int mutex_spin(const struct mutex_call *c)
{
    int result = EBUSY;
    for (int i = 0; i < SPINS && result == EBUSY; i++) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        result = mutex_call_try(c);
    }
    return result;
}

/* A lock that is not recorded: only the state is updated. */
static __attribute__((noinline)) int mutex_lock_untraced(const struct mutex_call *c)
{
    int result = mutex_call_lock(c);
    bool got = result == 0 || result == EOWNERDEAD;
    struct sync_object *o = got ? sync_object_find(c->lock, c->kind) : NULL;
    struct traced_thread *t = o ? thread_self() : NULL;
    struct object_hold *hold = t ? thread_hold(t, o) : NULL;
    if (hold)
        hold->depth++;
    else if (got && (o = hidden_use_object(c->lock, c->kind)) != NULL)
        hidden_use_acquire_exclusive(o);
    return result;
}

/* Another thread holds it now. */
static __attribute__((noinline)) int mutex_lock_after_request(struct traced_thread *t,
                                                              const struct trace_line *line,
                                                              uintptr_t site,
                                                              const struct mutex_call *c)
{
    record_request(t, c->ts ? TYPE_TIMED_ACQUIRE : TYPE_ACQUIRE, thread_place(t),
                   atomic_load(&line->index), site);
    instrument_wait_begin(t, TYPE_ACQUIRE, site);
    int result = mutex_spin(c);
    if (result == EBUSY)
        result = mutex_call_lock(c);
    instrument_wait_end(t, TYPE_ACQUIRE);
    return result;
}

/* Replays a lock call: the schedule says whether and when the thread acquires it. came: the next
 * recorded state. */
static __attribute__((noinline)) int mutex_replay_lock(struct traced_thread *t,
                                                       const struct trace_line *line,
                                                       uintptr_t site, const struct mutex_call *c,
                                                       enum trace_type came, bool *requested)
{
    bool timed = c->how == CALL_VARIANT_TIMED || c->how == CALL_VARIANT_CLOCK;
    struct thread_schedule_lock is = thread_schedule_request_lock(t, line, site);
    *requested = *requested || is.requested;
    if (is.got == TYPE_NONE)
        return is.last ? mutex_call_lock(c) : mutex_call_try(c);
    if (is.got == TYPE_ACQUIRE_FAILED && (c->how == CALL_VARIANT_LOCK || came == TYPE_RELOCK))
        return mutex_call_lock(c); /* which is an error */
    if (is.got == TYPE_ACQUIRE_FAILED)
        return !timed ? EBUSY : call_variant_is_valid_time(c->ts) ? ETIMEDOUT : EINVAL;
    if (!thread_schedule_wait(t, came))
        return mutex_call_try(c);
    return mutex_call_lock(&(struct mutex_call){c->kind, CALL_VARIANT_LOCK, c->lock, 0, NULL});
}

static inline struct trace_line *mutex_get_line(struct traced_thread *t, struct sync_object *o)
{
    return LIKELY(trace_line_index(&o->line) && !trace_line_is_over(&o->line))
               ? &o->line
               : sync_object_line(t, o, false);
}

/* Inlined for each kind of call: the common case is one straight path. */
static inline __attribute__((always_inline)) int mutex_acquire(uintptr_t site,
                                                               const struct mutex_call *c)
{
    real_find();
    bool odd =
        c->how == CALL_VARIANT_CLOCK && c->clock != CLOCK_REALTIME && c->clock != CLOCK_MONOTONIC;
    struct traced_thread *t = site && !odd ? thread_recording() : NULL;
    struct sync_object *o = t ? sync_object_get(c->lock, c->kind) : NULL;
    struct trace_line *line = o ? mutex_get_line(t, o) : NULL;
    if (UNLIKELY(!line))
        return mutex_lock_untraced(c);
    struct object_hold *hold = thread_hold(t, o);
    bool requested = false;
    int result =
        LIKELY(!replay_is_active())
            ? mutex_call_try(c)
            : mutex_replay_lock(t, line, site, c, hold ? TYPE_RELOCK : TYPE_ACQUIRED, &requested);
    if (UNLIKELY(result == EBUSY && c->how != CALL_VARIANT_TRY)) {
        requested = true;
        result = mutex_lock_after_request(t, line, site, c);
    }
    bool got = result == 0 || result == EOWNERDEAD;
    if (got && UNLIKELY(!sync_object_is_marked(o))) {
        line = sync_object_check_mark(t, o);
        hold = thread_hold(t, o);
    }
    if (UNLIKELY(!got))
        record_refused(t, line, requested, site);
    else if (UNLIKELY(hold))
        mutex_record_relock(t, hold, site);
    else if (LIKELY(line))
        record_entered(t, o, line, requested || c->how == CALL_VARIANT_TRY, result == EOWNERDEAD,
                       site);
    return result;
}

static int mutex_lock_trace(uintptr_t site, enum call_variant how, pthread_mutex_t *m,
                            clockid_t clock, const struct timespec *ts)
{
    return mutex_acquire(site, &(struct mutex_call){SYNC_MUTEX, how, m, clock, ts});
}

ENTRY(int, pthread_mutex_lock, (pthread_mutex_t * m), m)
{
    return mutex_acquire(site, &(struct mutex_call){SYNC_MUTEX, CALL_VARIANT_LOCK, m, 0, NULL});
}

ENTRY(int, pthread_mutex_trylock, (pthread_mutex_t * m), m)
{
    return mutex_lock_trace(site, CALL_VARIANT_TRY, m, 0, NULL);
}

ENTRY(int, pthread_mutex_timedlock, (pthread_mutex_t * m, const struct timespec *ts), m, ts)
{
    return mutex_lock_trace(site, CALL_VARIANT_TIMED, m, 0, ts);
}

ENTRY(int, pthread_mutex_clocklock,
      (pthread_mutex_t * m, clockid_t clock, const struct timespec *ts), m, clock, ts)
{
    return mutex_lock_trace(site, CALL_VARIANT_CLOCK, m, clock, ts);
}

ENTRY(int, pthread_spin_lock, (pthread_spinlock_t * s), s)
{
    return mutex_acquire(site, &(struct mutex_call){SYNC_SPIN_LOCK, CALL_VARIANT_LOCK,
                                                    (void *)(uintptr_t)s, 0, NULL});
}

ENTRY(int, pthread_spin_trylock, (pthread_spinlock_t * s), s)
{
    return mutex_acquire(site, &(struct mutex_call){SYNC_SPIN_LOCK, CALL_VARIANT_TRY,
                                                    (void *)(uintptr_t)s, 0, NULL});
}

/* Error-checking mutexes cannot be released by other threads; the call will fail. */
static bool mutex_may_be_released_by_others(const void *lock, enum sync_object_kind kind)
{
#ifdef __GLIBC__
    int type = kind == SYNC_SPIN_LOCK ? PTHREAD_MUTEX_TIMED_NP
                                      : ((const pthread_mutex_t *)lock)->__data.__kind & 127;
    return type == PTHREAD_MUTEX_TIMED_NP || type == PTHREAD_MUTEX_ADAPTIVE_NP;
#else
    return false;
#endif
}

/* Returns whether the calling thread holds it, by whichever call. */
static bool is_mine(const pthread_mutex_t *m)
{
#ifdef __GLIBC__
    return m->__data.__owner == gettid();
#else
    return false;
#endif
}

static bool may_be_unlocked(const void *lock, enum sync_object_kind kind)
{
    return mutex_may_be_released_by_others(lock, kind) || is_mine(lock);
}

static unsigned mutex_depth(const pthread_mutex_t *m)
{
#ifdef __GLIBC__
    bool recursive = (m->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE_NP;
    return recursive && m->__data.__count ? m->__data.__count : 1;
#else
    return 1;
#endif
}

/* Acquired by unrecorded code, and now released by recorded code: all earlier releases come before
 * this one, too. */
struct object_hold *mutex_held(uintptr_t site, struct traced_thread *t, pthread_mutex_t *m)
{
    struct sync_object *o = is_mine(m) ? sync_object_get(m, SYNC_MUTEX) : NULL;
    struct trace_line *line = o ? sync_object_line(t, o, false) : NULL;
    if (line && !sync_object_is_marked(o))
        line = sync_object_check_mark(t, o);
    if (!line)
        return NULL;
    hidden_use_check(o, t, true);
    if (o->held)
        mutex_record_inferred(t, SHAPE_LEAVE, line, site,
                              "release by the previous owner not traced");
    o->held = true;
    o->visit++;
    mutex_record_inferred(t, SHAPE_ENTER, line, site, "lock not traced");
    record_mark_nonempty();
    struct object_hold *hold = thread_push(t, o, line);
    if (hold)
        hold->depth = mutex_depth(m);
    return hold;
}

/* Returns whether threads may sleep until the calling one releases the lock. */
static inline bool mutex_is_awaited(const struct sync_object *o)
{
#ifdef __GLIBC__
    const pthread_mutex_t *m = o->address;
    int word = o->kind == SYNC_MUTEX ? __atomic_load_n(&m->__data.__lock, __ATOMIC_RELAXED) : 0;
    return word == 2 || word < 0; /* FUTEX_WAITERS of the kernel, with priority inheritance */
#else
    return o && false;
#endif
}

/* Does what mutex_release_hold() does, and records the call stack: it ends waits. */
static __attribute__((noinline)) void
mutex_release_awaited(struct traced_thread *t, struct object_hold *hold, uintptr_t site)
{
    struct slot_stack stack;
    struct record r = {.shape = SHAPE_LEAVE,
                       .b = hold->line,
                       .take_a = 1,
                       .take_b = 1,
                       .site = site,
                       .stack = site ? wait_stack_read(site, &stack) : NULL};
    busy_begin(t);
    hold->object->held = false;
    thread_pop(t, hold);
    r.a = thread_place(t);
    record_write(t, &r, NULL);
    busy_end(t);
}

static inline void mutex_release_hold(struct traced_thread *t, struct object_hold *hold,
                                      uintptr_t site)
{
    struct trace_line *line = hold->line;
    if (UNLIKELY(mutex_is_awaited(hold->object))) {
        mutex_release_awaited(t, hold, site);
        return;
    }
    busy_begin(t);
    hold->object->held = false;
    thread_pop(t, hold);
    record_pair(t, SHAPE_LEAVE, thread_place(t), 1, line, site);
    busy_end(t);
}

static __attribute__((noinline)) void mutex_release_other(struct traced_thread *t, uintptr_t site,
                                                          const void *lock,
                                                          enum sync_object_kind kind)
{
    struct sync_object *o = sync_object_find(lock, kind);
    struct object_hold *hold = t && o ? thread_hold(t, o) : NULL;
    if (!hold && t && site && kind == SYNC_MUTEX) {
        hold = mutex_held(site, t, (pthread_mutex_t *)(uintptr_t)lock);
        o = hold ? hold->object : o;
    }
    if (hold && --hold->depth) {
        record_event(t, TYPE_UNLOCK_INNER, hold->line, 0, site);
    } else if (hold) {
        mutex_release_hold(t, hold, site);
    } else if (o && t && site && o->held && trace_line_index(&o->line) &&
               sync_object_is_marked(o) && mutex_may_be_released_by_others(lock, kind)) {
        o->visit++; /* the hold of the thread that acquired it is stale now */
        o->held = false;
        mutex_record_inferred(t, SHAPE_LEAVE, &o->line, site,
                              "unlocked by a thread that is not the owner");
    } else if ((!site || kind == SYNC_SPIN_LOCK || (o && atomic_load(&o->missed))) &&
               may_be_unlocked(lock, kind) && (o = hidden_use_object(lock, kind)) != NULL) {
        hidden_use_release(o);
    }
}

static inline bool is_hold_of(const struct object_hold *hold, const void *lock,
                              enum sync_object_kind kind)
{
    const struct sync_object *o = hold->object;
    return o && o->address == lock && o->kind == kind && o->visit == hold->visit;
}

/* The release is recorded before the real unlock, even in code that is not traced if it releases
 * what traced code acquired. */
static inline void mutex_release(uintptr_t site, const void *lock, enum sync_object_kind kind)
{
    struct traced_thread *t = thread_at(site);
    struct object_hold *top =
        t && t->hold_stack.count ? &t->hold_stack.holds[t->hold_stack.count - 1] : NULL;
    if (LIKELY(top && is_hold_of(top, lock, kind) && top->depth == 1))
        mutex_release_hold(t, top, site);
    else
        mutex_release_other(t, site, lock, kind);
}

static int mutex_unlock_trace(uintptr_t site, pthread_mutex_t *m)
{
    real_find();
    mutex_release(site, m, SYNC_MUTEX);
    return real_functions.mutex_unlock(m);
}

ENTRY(int, pthread_mutex_unlock, (pthread_mutex_t * m), m) { return mutex_unlock_trace(site, m); }

ENTRY(int, pthread_spin_unlock, (pthread_spinlock_t * s), s)
{
    real_find();
    mutex_release(site, (const void *)(uintptr_t)s, SYNC_SPIN_LOCK);
    return real_functions.spin_unlock(s);
}

ENTRY(int, pthread_mutex_init, (pthread_mutex_t * m, const pthread_mutexattr_t *attributes), m,
      attributes)
{
    real_find();
    int result = real_functions.mutex_init(m, attributes);
    if (result == 0)
        sync_object_created(m, SYNC_MUTEX, site);
    return result;
}

ENTRY(int, pthread_mutex_destroy, (pthread_mutex_t * m), m)
{
    real_find();
    sync_object_record_destroy(m, SYNC_MUTEX, site);
    int result = real_functions.mutex_destroy(m);
    if (result == 0)
        sync_object_destroy(m, SYNC_MUTEX);
    return result;
}

ENTRY(int, pthread_spin_init, (pthread_spinlock_t * s, int shared), s, shared)
{
    real_find();
    int result = real_functions.spin_init(s, shared);
    if (result == 0)
        sync_object_created((const void *)(uintptr_t)s, SYNC_SPIN_LOCK, site);
    return result;
}

ENTRY(int, pthread_spin_destroy, (pthread_spinlock_t * s), s)
{
    real_find();
    sync_object_record_destroy((const void *)(uintptr_t)s, SYNC_SPIN_LOCK, site);
    int result = real_functions.spin_destroy(s);
    if (result == 0)
        sync_object_destroy((const void *)(uintptr_t)s, SYNC_SPIN_LOCK);
    return result;
}

/* ---- <threads.h> ---- */

ENTRY(int, mtx_init, (mtx_t * m, int type), m, type)
{
    real_find();
    int result = real_functions.mtx_init(m, type);
    if (result == thrd_success)
        sync_object_created(m, SYNC_MUTEX, site);
    return result;
}

ENTRY_VOID(mtx_destroy, (mtx_t * m), m) { trace_pthread_mutex_destroy(site, (pthread_mutex_t *)m); }

ENTRY(int, mtx_lock, (mtx_t * m), m)
{
    return call_variant_c11_result(
        mutex_lock_trace(site, CALL_VARIANT_LOCK, (pthread_mutex_t *)m, 0, NULL));
}

ENTRY(int, mtx_trylock, (mtx_t * m), m)
{
    return call_variant_c11_result(
        mutex_lock_trace(site, CALL_VARIANT_TRY, (pthread_mutex_t *)m, 0, NULL));
}

ENTRY(int, mtx_timedlock, (mtx_t * m, const struct timespec *ts), m, ts)
{
    return call_variant_c11_result(
        mutex_lock_trace(site, CALL_VARIANT_TIMED, (pthread_mutex_t *)m, 0, ts));
}

ENTRY(int, mtx_unlock, (mtx_t * m), m)
{
    return call_variant_c11_result(mutex_unlock_trace(site, (pthread_mutex_t *)m));
}
