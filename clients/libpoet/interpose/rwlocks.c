/* Read-write locks: shared lines. A reader comes after the writers that released it before, a
 * writer after all that released it before; two readers are not ordered. */
#define _GNU_SOURCE
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/interpose/hidden_uses.h"
#include "clients/libpoet/interpose/call_variant.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/profile/instrument_hooks.h"
#include "clients/libpoet/replay/held_points.h"
#include "clients/libpoet/replay/thread_schedule.h"
#include "wire/annotation_text.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

struct rwlock_call {
    bool writing;
    enum call_variant how;
    pthread_rwlock_t *lock;
    clockid_t clock;
    const struct timespec *ts;
};

static int rwlock_call_real(const struct rwlock_call *c, enum call_variant how)
{
    switch (how) {
    case CALL_VARIANT_TRY:
        return c->writing ? real_functions.trywrlock(c->lock) : real_functions.tryrdlock(c->lock);
    case CALL_VARIANT_TIMED:
        return c->writing ? real_functions.timedwrlock(c->lock, c->ts)
                          : real_functions.timedrdlock(c->lock, c->ts);
    case CALL_VARIANT_CLOCK:
        return c->writing ? real_functions.clockwrlock(c->lock, c->clock, c->ts)
                          : real_functions.clockrdlock(c->lock, c->clock, c->ts);
    default:
        return c->writing ? real_functions.wrlock(c->lock) : real_functions.rdlock(c->lock);
    }
}

static void rwlock_record_entered(struct traced_thread *t, struct sync_object *o,
                                  const struct rwlock_call *c, bool requested, uintptr_t site)
{
    static const uint16_t shapes[2][2] = {{SHAPE_READ, SHAPE_READ_ENTER},
                                          {SHAPE_WRITE, SHAPE_WRITE_ENTER}};
    busy_begin(t);
    hidden_use_check(o, t, c->writing);
    __atomic_store_n(&o->held, true, __ATOMIC_RELAXED); /* the thread may be held at that event */
    record_write(t,
                 &(struct record){.shape = shapes[c->writing][requested],
                                  .a = thread_place(t),
                                  .b = &o->line,
                                  .take_a = requested ? 1 : 2,
                                  .take_b = 1,
                                  .site = site},
                 NULL);
    struct object_hold *hold = thread_push(t, o, &o->line);
    if (hold)
        hold->writing = c->writing;
    busy_end(t);
    record_mark_nonempty();
    if (UNLIKELY(tracer.replay.has_hold_points))
        hold_point_after_lock(t);
}

/* Returns the text for a recursive acquisition by a reader that blocks for ever if a writer waits;
 * NULL: it does not block. */
static const char *rwlock_reread_text(const struct object_hold *hold, const struct rwlock_call *c)
{
#ifdef __GLIBC__
    if (!hold->writing && c->how == CALL_VARIANT_LOCK &&
        c->lock->__data.__flags == PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP)
        return TEXT_WRITERS_FIRST;
#else
    (void)hold;
    (void)c;
#endif
    return NULL;
}

/* Records a recursive acquisition by a reader. */
static void rwlock_record_reread(struct traced_thread *t, struct object_hold *hold,
                                 const struct rwlock_call *c, bool requested, uintptr_t site)
{
    const char *text = rwlock_reread_text(hold, c);
    hold->depth++;
    record_write(t,
                 &(struct record){.shape = requested ? TYPE_RELOCK : (int)SHAPE_AGAIN,
                                  .flags = text ? SLOT_TEXT : 0,
                                  .payload = text,
                                  .payload_bytes = text ? (uint32_t)strlen(text) : 0,
                                  .a = hold->line,
                                  .take_a = requested ? 1 : 2,
                                  .about = atomic_load(&hold->line->index),
                                  .site = site},
                 NULL);
}

static int rwlock_lock_untraced(const struct rwlock_call *c)
{
    int result = rwlock_call_real(c, c->how);
    struct sync_object *o = result == 0 ? sync_object_find(c->lock, SYNC_RWLOCK) : NULL;
    struct traced_thread *t = o ? thread_self() : NULL;
    struct object_hold *hold = t ? thread_hold(t, o) : NULL;
    if (hold)
        hold->depth++;
    else if (result == 0 && (o = hidden_use_object(c->lock, SYNC_RWLOCK)) != NULL)
        hidden_use_acquire(o);
    return result;
}

/* Replays a lock call: the schedule says whether and when the thread acquires it. came: the next
 * recorded state. */
static __attribute__((noinline)) int rwlock_replay_lock(struct traced_thread *t,
                                                        const struct trace_line *line,
                                                        uintptr_t site, const struct rwlock_call *c,
                                                        enum trace_type came, bool *requested)
{
    struct thread_schedule_lock is = thread_schedule_request_lock(t, line, site);
    *requested = *requested || is.requested;
    if (is.got == TYPE_NONE)
        return rwlock_call_real(c, is.last ? c->how : CALL_VARIANT_TRY);
    if (is.got == TYPE_ACQUIRE_FAILED && c->how != CALL_VARIANT_LOCK)
        return !c->ts ? EBUSY : call_variant_is_valid_time(c->ts) ? ETIMEDOUT : EINVAL;
    if (is.got != TYPE_ACQUIRE_FAILED && !thread_schedule_wait(t, came))
        return rwlock_call_real(c, CALL_VARIANT_TRY);
    return rwlock_call_real(c, CALL_VARIANT_LOCK);
}

static int rwlock_acquire(uintptr_t site, const struct rwlock_call *c)
{
    real_find();
    bool odd =
        c->how == CALL_VARIANT_CLOCK && c->clock != CLOCK_REALTIME && c->clock != CLOCK_MONOTONIC;
    struct traced_thread *t = site && !odd ? thread_recording() : NULL;
    struct sync_object *o = t ? sync_object_get(c->lock, SYNC_RWLOCK) : NULL;
    int saved = errno;
    struct trace_line *line = o ? sync_object_line(t, o, false) : NULL;
    if (!line)
        return rwlock_lock_untraced(c);
    struct object_hold *hold = thread_hold(t, o);
    bool requested = false;
    enum trace_type came = hold         ? TYPE_RELOCK
                           : c->writing ? TYPE_WRITE_ACQUIRED
                                        : TYPE_READ_ACQUIRED;
    int result = LIKELY(!replay_is_active())
                     ? rwlock_call_real(c, CALL_VARIANT_TRY)
                     : rwlock_replay_lock(t, line, site, c, came, &requested);
    if (result == EBUSY && c->how != CALL_VARIANT_TRY) {
        record_request(t, c->ts ? TYPE_TIMED_ACQUIRE : TYPE_ACQUIRE, hold ? line : thread_place(t),
                       atomic_load(&line->index), site);
        requested = true;
        instrument_wait_begin(t, TYPE_ACQUIRE, site);
        errno = saved;
        result = rwlock_call_real(c, c->how);
        instrument_wait_end(t, TYPE_ACQUIRE);
    }
    if (result == 0 && !sync_object_is_marked(o)) {
        line = sync_object_check_mark(t, o);
        hold = thread_hold(t, o);
    }
    if (result != 0)
        record_refused(t, line, requested, site);
    else if (line && hold)
        rwlock_record_reread(t, hold, c, requested, site);
    else if (line)
        rwlock_record_entered(t, o, c, requested || c->how == CALL_VARIANT_TRY, site);
    errno = saved;
    return result;
}

#define LOCK(name, writing, how, parameters, clock, ts, ...)                                       \
    ENTRY(int, name, parameters, __VA_ARGS__)                                                      \
    {                                                                                              \
        return rwlock_acquire(site, &(struct rwlock_call){writing, how, l, clock, ts});            \
    }
#define TIME const struct timespec *ts
LOCK(pthread_rwlock_rdlock, false, CALL_VARIANT_LOCK, (pthread_rwlock_t * l), 0, NULL, l)
LOCK(pthread_rwlock_tryrdlock, false, CALL_VARIANT_TRY, (pthread_rwlock_t * l), 0, NULL, l)
LOCK(pthread_rwlock_timedrdlock, false, CALL_VARIANT_TIMED, (pthread_rwlock_t * l, TIME), 0, ts, l,
     ts)
LOCK(pthread_rwlock_clockrdlock, false, CALL_VARIANT_CLOCK,
     (pthread_rwlock_t * l, clockid_t clock, TIME), clock, ts, l, clock, ts)
LOCK(pthread_rwlock_wrlock, true, CALL_VARIANT_LOCK, (pthread_rwlock_t * l), 0, NULL, l)
LOCK(pthread_rwlock_trywrlock, true, CALL_VARIANT_TRY, (pthread_rwlock_t * l), 0, NULL, l)
LOCK(pthread_rwlock_timedwrlock, true, CALL_VARIANT_TIMED, (pthread_rwlock_t * l, TIME), 0, ts, l,
     ts)
LOCK(pthread_rwlock_clockwrlock, true, CALL_VARIANT_CLOCK,
     (pthread_rwlock_t * l, clockid_t clock, TIME), clock, ts, l, clock, ts)

ENTRY(int, pthread_rwlock_unlock, (pthread_rwlock_t * l), l)
{
    real_find();
    struct sync_object *o = sync_object_find(l, SYNC_RWLOCK);
    struct traced_thread *t = o ? thread_at(site) : NULL;
    struct object_hold *hold = t ? thread_hold(t, o) : NULL;
    int saved = errno;
    if (hold && --hold->depth) {
        record_event(t, TYPE_UNLOCK_INNER, hold->line, 0, site);
    } else if (hold) {
        uint16_t shape = hold->writing ? SHAPE_WRITE_LEAVE : SHAPE_READ_LEAVE;
        struct trace_line *line = hold->line;
        busy_begin(t);
        thread_pop(t, hold);
        record_write(t,
                     &(struct record){.shape = shape,
                                      .a = thread_place(t),
                                      .b = line,
                                      .take_a = 1,
                                      .take_b = 1,
                                      .site = site},
                     NULL);
        busy_end(t);
    } else if ((o = hidden_use_object(l, SYNC_RWLOCK)) != NULL) {
        hidden_use_release(o);
    }
    errno = saved;
    return real_functions.rwlock_unlock(l);
}

ENTRY(int, pthread_rwlock_init, (pthread_rwlock_t * l, const pthread_rwlockattr_t *attributes), l,
      attributes)
{
    real_find();
    int result = real_functions.rwlock_init(l, attributes);
    if (result == 0)
        sync_object_created(l, SYNC_RWLOCK, site);
    return result;
}

ENTRY(int, pthread_rwlock_destroy, (pthread_rwlock_t * l), l)
{
    real_find();
    sync_object_record_destroy(l, SYNC_RWLOCK, site);
    int result = real_functions.rwlock_destroy(l);
    if (result == 0)
        sync_object_destroy(l, SYNC_RWLOCK);
    return result;
}
