/* Read-write locks: shared lines.  A reader comes after the writers that left before it, a writer
 * after all that left before it; two readers are not ordered. */
#define _GNU_SOURCE
#include "clients/trace/calls/again.h"
#include "clients/trace/calls/hidden.h"
#include "clients/trace/calls/how.h"
#include "clients/trace/core/codes.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/object.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/measure/hooks.h"
#include "clients/trace/replay/part.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

struct call {
    bool writing;
    enum how how;
    pthread_rwlock_t *lock;
    clockid_t clock;
    const struct timespec *ts;
};

static int really(const struct call *c, enum how how)
{
    switch (how) {
    case HOW_TRY:
        return c->writing ? real.trywrlock(c->lock) : real.tryrdlock(c->lock);
    case HOW_TIMED:
        return c->writing ? real.timedwrlock(c->lock, c->ts) : real.timedrdlock(c->lock, c->ts);
    case HOW_CLOCK:
        return c->writing ? real.clockwrlock(c->lock, c->clock, c->ts)
                          : real.clockrdlock(c->lock, c->clock, c->ts);
    default:
        return c->writing ? real.wrlock(c->lock) : real.rdlock(c->lock);
    }
}

static void entered(struct thread *t, struct object *o, const struct call *c, bool petitioned,
                    uintptr_t site)
{
    static const uint16_t shapes[2][2] = {{SHAPE_READ, SHAPE_READ_ENTER},
                                          {SHAPE_WRITE, SHAPE_WRITE_ENTER}};
    busy_begin(t);
    hidden_meets(o, t, c->writing);
    record_write(t,
                 &(struct record){.shape = shapes[c->writing][petitioned],
                                  .a = thread_place(t),
                                  .b = &o->line,
                                  .take_a = petitioned ? 1 : 2,
                                  .take_b = 1,
                                  .site = site},
                 NULL);
    struct hold *hold = thread_push(t, o, &o->line);
    if (hold)
        hold->writing = c->writing;
    busy_end(t);
    note_recorded();
}

/* One more visit of a reader. */
static void again(struct thread *t, struct hold *hold, bool petitioned, uintptr_t site)
{
    hold->depth++;
    record_write(t,
                 &(struct record){.shape = petitioned ? TYPE_ENTER : (int)SHAPE_AGAIN,
                                  .a = hold->line,
                                  .take_a = petitioned ? 1 : 2,
                                  .about = atomic_load(&hold->line->index),
                                  .site = site},
                 NULL);
}

static int unrecorded_lock(const struct call *c)
{
    int result = really(c, c->how);
    struct object *o = result == 0 ? object_find(c->lock, OBJECT_RWLOCK) : NULL;
    struct thread *t = o ? thread_self() : NULL;
    struct hold *hold = t ? thread_hold(t, o) : NULL;
    if (hold)
        hold->depth++;
    else if (result == 0 && (o = hidden_object(c->lock, OBJECT_RWLOCK)) != NULL)
        hidden_takes(o);
    return result;
}

/* As it was: the script says whether the thread got it, and when.  came: what it is to be then. */
static __attribute__((noinline)) int lock_again(struct thread *t, const struct line *line,
                                                uintptr_t site, const struct call *c,
                                                enum trace_type came, bool *petitioned)
{
    struct again is = again_asked(t, line, site);
    *petitioned = *petitioned || is.petitioned;
    if (is.got == TYPE_NONE)
        return really(c, is.last ? c->how : HOW_TRY);
    if (is.got == TYPE_REFUSED && c->how != HOW_LOCK)
        return !c->ts ? EBUSY : how_is_time(c->ts) ? ETIMEDOUT : EINVAL;
    if (is.got != TYPE_REFUSED && !part_await(t, came))
        return really(c, HOW_TRY);
    return really(c, HOW_LOCK);
}

static int lock(uintptr_t site, const struct call *c)
{
    real_find();
    bool odd = c->how == HOW_CLOCK && c->clock != CLOCK_REALTIME && c->clock != CLOCK_MONOTONIC;
    struct thread *t = site && !odd ? thread_recording() : NULL;
    struct object *o = t ? object_get(c->lock, OBJECT_RWLOCK) : NULL;
    int saved = errno;
    struct line *line = o ? object_line(t, o, false) : NULL;
    if (!line)
        return unrecorded_lock(c);
    struct hold *hold = thread_hold(t, o);
    bool petitioned = false;
    enum trace_type came = hold ? TYPE_ENTER : c->writing ? TYPE_WRITE : TYPE_READ;
    int result =
        LIKELY(!replays) ? really(c, HOW_TRY) : lock_again(t, line, site, c, came, &petitioned);
    if (result == EBUSY && c->how != HOW_TRY) {
        record_event(t, c->ts ? TYPE_TIMED_PETITION : TYPE_PETITION, hold ? line : thread_place(t),
                     atomic_load(&line->index), site);
        petitioned = true;
        hooks_wait(t, TYPE_PETITION, site);
        errno = saved;
        result = really(c, c->how);
        hooks_go_on(t, TYPE_PETITION);
    }
    if (result == 0 && !object_is_marked(o)) {
        line = object_meet(t, o);
        hold = thread_hold(t, o);
    }
    if (result != 0)
        record_refused(t, line, petitioned, site);
    else if (line && hold)
        again(t, hold, petitioned, site);
    else if (line)
        entered(t, o, c, petitioned || c->how == HOW_TRY, site);
    errno = saved;
    return result;
}

#define LOCK(name, writing, how, parameters, clock, ts, ...)                                       \
    ENTRY(int, name, parameters, __VA_ARGS__)                                                      \
    {                                                                                              \
        return lock(site, &(struct call){writing, how, l, clock, ts});                             \
    }
#define TIME const struct timespec *ts
LOCK(pthread_rwlock_rdlock, false, HOW_LOCK, (pthread_rwlock_t * l), 0, NULL, l)
LOCK(pthread_rwlock_tryrdlock, false, HOW_TRY, (pthread_rwlock_t * l), 0, NULL, l)
LOCK(pthread_rwlock_timedrdlock, false, HOW_TIMED, (pthread_rwlock_t * l, TIME), 0, ts, l, ts)
LOCK(pthread_rwlock_clockrdlock, false, HOW_CLOCK, (pthread_rwlock_t * l, clockid_t clock, TIME),
     clock, ts, l, clock, ts)
LOCK(pthread_rwlock_wrlock, true, HOW_LOCK, (pthread_rwlock_t * l), 0, NULL, l)
LOCK(pthread_rwlock_trywrlock, true, HOW_TRY, (pthread_rwlock_t * l), 0, NULL, l)
LOCK(pthread_rwlock_timedwrlock, true, HOW_TIMED, (pthread_rwlock_t * l, TIME), 0, ts, l, ts)
LOCK(pthread_rwlock_clockwrlock, true, HOW_CLOCK, (pthread_rwlock_t * l, clockid_t clock, TIME),
     clock, ts, l, clock, ts)

ENTRY(int, pthread_rwlock_unlock, (pthread_rwlock_t * l), l)
{
    real_find();
    struct object *o = object_find(l, OBJECT_RWLOCK);
    struct thread *t = o ? thread_at(site) : NULL;
    struct hold *hold = t ? thread_hold(t, o) : NULL;
    int saved = errno;
    if (hold && --hold->depth) {
        record_event(t, TYPE_LEAVE, hold->line, 0, site);
    } else if (hold) {
        uint16_t shape = hold->writing ? SHAPE_WRITE_LEAVE : SHAPE_READ_LEAVE;
        struct line *line = hold->line;
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
    } else if ((o = hidden_object(l, OBJECT_RWLOCK)) != NULL) {
        hidden_gives(o);
    }
    errno = saved;
    return real.rwlock_unlock(l);
}

ENTRY(int, pthread_rwlock_init, (pthread_rwlock_t * l, const pthread_rwlockattr_t *attributes), l,
      attributes)
{
    real_find();
    int result = real.rwlock_init(l, attributes);
    if (result == 0)
        object_made(l, OBJECT_RWLOCK, site);
    return result;
}

ENTRY(int, pthread_rwlock_destroy, (pthread_rwlock_t * l), l)
{
    real_find();
    (void)site;
    int result = real.rwlock_destroy(l);
    if (result == 0)
        object_destroy(l, OBJECT_RWLOCK);
    return result;
}
