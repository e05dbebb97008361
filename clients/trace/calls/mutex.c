/* Mutexes and spin locks.  What may block is tried first, so that a lock that is free is one
 * record, and one that is not shows its petition before the thread blocks. */
#define _GNU_SOURCE
#include "clients/trace/calls/mutex.h"

#include "clients/trace/calls/again.h"
#include "clients/trace/calls/hidden.h"
#include "clients/trace/core/codes.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/object.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/measure/hooks.h"
#include "clients/trace/replay/part.h"
#include "wire/slot.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#undef UNTRACED_SITE
#define UNTRACED_SITE site_of_lock

/* A leave that the books are mended with: the visit of another thread ends here. */
static void record_mending(struct thread *t, struct line *line, uintptr_t site, const char *text)
{
    record_write(t,
                 &(struct record){.shape = SHAPE_LEAVE,
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

/* Locked for the first time by this thread: one record, or its second half.  Who only tries does not ask. */
static inline void record_entered(struct thread *t, struct object *o, struct line *line,
                                  bool petitioned, bool died, uintptr_t site)
{
    busy_begin(t); /* a handler finds the thread before it or in it, not in between */
    bool elsewhere = died && atomic_load_explicit(
                                 &line->far, memory_order_relaxed); /* its process's books say */
    hidden_meets(o, t, true);
    if (!LIKELY(!o->held && !elsewhere))
        record_mending(t, line, site, died ? "its holder died" : "its holder was not seen leaving");
    o->held = true;
    o->visit++;
    record_pair(t, petitioned ? SHAPE_ENTER : SHAPE_LOCK, thread_place(t), petitioned ? 1 : 2, line,
                site);
    thread_push(t, o, line);
    busy_end(t);
    note_recorded();
}

static void record_again(struct thread *t, struct hold *hold, uintptr_t site)
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

struct call {
    enum object_kind kind;
    enum how how;
    void *lock;
    clockid_t clock;
    const struct timespec *ts;
};

static inline int real_try(const struct call *c)
{
    return c->kind == OBJECT_SPIN ? real.spin_trylock(c->lock) : real.mutex_trylock(c->lock);
}

static int real_lock(const struct call *c)
{
    if (c->how == HOW_TRY)
        return real_try(c);
    if (c->kind == OBJECT_SPIN)
        return real.spin_lock(c->lock);
    return c->how == HOW_TIMED   ? real.mutex_timedlock(c->lock, c->ts)
           : c->how == HOW_CLOCK ? real.mutex_clocklock(c->lock, c->clock, c->ts)
                                 : real.mutex_lock(c->lock);
}

/* Recording makes short visits longer, so that threads meet more often: wait a moment, about as long
 * as a visit takes, before asking the system to. */
static int try_for_a_moment(const struct call *c)
{
    int result = EBUSY;
    for (int i = 0; i < SPINS && result == EBUSY; i++) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        result = real_try(c);
    }
    return result;
}

/* A lock that is not recorded: the books only. */
static __attribute__((noinline)) int unrecorded_lock(const struct call *c)
{
    int result = real_lock(c);
    bool got = result == 0 || result == EOWNERDEAD;
    struct object *o = got ? object_find(c->lock, c->kind) : NULL;
    struct thread *t = o ? thread_self() : NULL;
    struct hold *hold = t ? thread_hold(t, o) : NULL;
    if (hold)
        hold->depth++;
    else if (got && (o = hidden_object(c->lock, c->kind)) != NULL)
        hidden_takes_alone(o);
    return result;
}

/* It is another's now. */
static __attribute__((noinline)) int lock_later(struct thread *t, const struct line *line,
                                                uintptr_t site, const struct call *c)
{
    record_event(t, c->ts ? TYPE_TIMED_PETITION : TYPE_PETITION, thread_place(t),
                 atomic_load(&line->index), site);
    hooks_wait(t, TYPE_PETITION, site);
    int result = try_for_a_moment(c);
    if (result == EBUSY)
        result = real_lock(c);
    hooks_go_on(t, TYPE_PETITION);
    return result;
}

/* As it was: the script says whether the thread got it, and when.  came: what it is to be then. */
static __attribute__((noinline)) int lock_again(struct thread *t, const struct line *line,
                                                uintptr_t site, const struct call *c,
                                                enum trace_type came, bool *petitioned)
{
    bool timed = c->how == HOW_TIMED || c->how == HOW_CLOCK;
    struct again is = again_asked(t, line, site);
    *petitioned = *petitioned || is.petitioned;
    if (is.got == TYPE_NONE)
        return is.last ? real_lock(c) : real_try(c);
    if (is.got == TYPE_REFUSED && (c->how == HOW_LOCK || came == TYPE_ENTER))
        return real_lock(c); /* which is an error */
    if (is.got == TYPE_REFUSED)
        return !timed ? EBUSY : how_is_time(c->ts) ? ETIMEDOUT : EINVAL;
    if (!part_await(t, came))
        return real_try(c);
    return real_lock(&(struct call){c->kind, HOW_LOCK, c->lock, 0, NULL});
}

static inline struct line *line_of(struct thread *t, struct object *o)
{
    return LIKELY(line_index(&o->line) && !line_is_over(&o->line)) ? &o->line
                                                                   : object_line(t, o, false);
}

/* Made for each kind of call on its own: what happens most is one straight way. */
static inline __attribute__((always_inline)) int lock(uintptr_t site, const struct call *c)
{
    real_find();
    bool odd = c->how == HOW_CLOCK && c->clock != CLOCK_REALTIME && c->clock != CLOCK_MONOTONIC;
    struct thread *t = site && !odd ? thread_recording() : NULL;
    struct object *o = t ? object_get(c->lock, c->kind) : NULL;
    struct line *line = o ? line_of(t, o) : NULL;
    if (!LIKELY(line != NULL))
        return unrecorded_lock(c);
    struct hold *hold = thread_hold(t, o);
    bool petitioned = false;
    int result = LIKELY(!replays)
                     ? real_try(c)
                     : lock_again(t, line, site, c, hold ? TYPE_ENTER : TYPE_ENTERED, &petitioned);
    if (!LIKELY(result != EBUSY || c->how == HOW_TRY)) {
        petitioned = true;
        result = lock_later(t, line, site, c);
    }
    bool got = result == 0 || result == EOWNERDEAD;
    if (got && !LIKELY(object_is_marked(o))) {
        line = object_meet(t, o);
        hold = thread_hold(t, o);
    }
    if (!LIKELY(got))
        record_refused(t, line, petitioned, site);
    else if (!LIKELY(!hold))
        record_again(t, hold, site);
    else if (LIKELY(line != NULL))
        record_entered(t, o, line, petitioned || c->how == HOW_TRY, result == EOWNERDEAD, site);
    return result;
}

int follow_lock(uintptr_t site, enum how how, pthread_mutex_t *m, clockid_t clock,
                const struct timespec *ts)
{
    return lock(site, &(struct call){OBJECT_MONITOR, how, m, clock, ts});
}

ENTRY(int, pthread_mutex_lock, (pthread_mutex_t * m), m)
{
    return lock(site, &(struct call){OBJECT_MONITOR, HOW_LOCK, m, 0, NULL});
}

ENTRY(int, pthread_mutex_trylock, (pthread_mutex_t * m), m)
{
    return follow_lock(site, HOW_TRY, m, 0, NULL);
}

ENTRY(int, pthread_mutex_timedlock, (pthread_mutex_t * m, const struct timespec *ts), m, ts)
{
    return follow_lock(site, HOW_TIMED, m, 0, ts);
}

ENTRY(int, pthread_mutex_clocklock,
      (pthread_mutex_t * m, clockid_t clock, const struct timespec *ts), m, clock, ts)
{
    return follow_lock(site, HOW_CLOCK, m, clock, ts);
}

ENTRY(int, pthread_spin_lock, (pthread_spinlock_t * s), s)
{
    return lock(site, &(struct call){OBJECT_SPIN, HOW_LOCK, (void *)(uintptr_t)s, 0, NULL});
}

ENTRY(int, pthread_spin_trylock, (pthread_spinlock_t * s), s)
{
    return lock(site, &(struct call){OBJECT_SPIN, HOW_TRY, (void *)(uintptr_t)s, 0, NULL});
}

/* Mutexes that check do not let others unlock them; the call will fail. */
static bool may_be_unlocked_by_others(const void *lock, enum object_kind kind)
{
#ifdef __GLIBC__
    int type = kind == OBJECT_SPIN ? PTHREAD_MUTEX_TIMED_NP
                                   : ((const pthread_mutex_t *)lock)->__data.__kind & 127;
    return type == PTHREAD_MUTEX_TIMED_NP || type == PTHREAD_MUTEX_ADAPTIVE_NP;
#else
    return false;
#endif
}

/* Whether the calling thread holds it, whoever locked it. */
static bool is_mine(const pthread_mutex_t *m)
{
#ifdef __GLIBC__
    return m->__data.__owner == gettid();
#else
    return false;
#endif
}

static bool may_be_unlocked(const void *lock, enum object_kind kind)
{
    return may_be_unlocked_by_others(lock, kind) || is_mine(lock);
}

static unsigned depth_of(const pthread_mutex_t *m)
{
#ifdef __GLIBC__
    bool recursive = (m->__data.__kind & 3) == PTHREAD_MUTEX_RECURSIVE_NP;
    return recursive && m->__data.__count ? m->__data.__count : 1;
#else
    return 1;
#endif
}

/* Locked by code that is not recorded, and now given away by code that is: all who left it before are
 * before this, too. */
struct hold *follow_held(uintptr_t site, struct thread *t, pthread_mutex_t *m)
{
    static const char text[] = "its lock was not recorded";
    struct object *o = is_mine(m) ? object_get(m, OBJECT_MONITOR) : NULL;
    struct line *line = o ? object_line(t, o, false) : NULL;
    if (line && !object_is_marked(o))
        line = object_meet(t, o);
    if (!line)
        return NULL;
    hidden_meets(o, t, true);
    if (o->held)
        record_mending(t, line, site, "its holder was not seen leaving");
    o->held = true;
    o->visit++;
    record_write(t,
                 &(struct record){.shape = SHAPE_ENTER,
                                  .flags = SLOT_TEXT,
                                  .a = thread_place(t),
                                  .b = line,
                                  .take_a = 1,
                                  .take_b = 1,
                                  .site = site,
                                  .payload = text,
                                  .payload_bytes = sizeof text - 1},
                 NULL);
    note_recorded();
    struct hold *hold = thread_push(t, o, line);
    if (hold)
        hold->depth = depth_of(m);
    return hold;
}

static inline void leave_hold(struct thread *t, struct hold *hold, uintptr_t site)
{
    struct line *line = hold->line;
    busy_begin(t);
    hold->object->held = false;
    thread_pop(t, hold);
    record_pair(t, SHAPE_LEAVE, thread_place(t), 1, line, site);
    busy_end(t);
}

static __attribute__((noinline)) void leave_other(struct thread *t, uintptr_t site,
                                                  const void *lock, enum object_kind kind)
{
    struct object *o = object_find(lock, kind);
    struct hold *hold = t && o ? thread_hold(t, o) : NULL;
    if (!hold && t && site && kind == OBJECT_MONITOR) {
        hold = follow_held(site, t, (pthread_mutex_t *)(uintptr_t)lock);
        o = hold ? hold->object : o;
    }
    if (hold && --hold->depth) {
        record_event(t, TYPE_LEAVE, hold->line, 0, site);
    } else if (hold) {
        leave_hold(t, hold, site);
    } else if (o && t && site && o->held && line_index(&o->line) && object_is_marked(o) &&
               may_be_unlocked_by_others(lock, kind)) {
        o->visit++; /* the hold of the thread that took it is stale now */
        o->held = false;
        record_mending(t, &o->line, site, "unlocked by a thread that did not lock it");
    } else if ((!site || kind == OBJECT_SPIN || (o && atomic_load(&o->missed))) &&
               may_be_unlocked(lock, kind) && (o = hidden_object(lock, kind)) != NULL) {
        hidden_gives(o);
    }
}

static inline bool is_hold_of(const struct hold *hold, const void *lock, enum object_kind kind)
{
    const struct object *o = hold->object;
    return o && o->address == lock && o->kind == kind && o->visit == hold->visit;
}

/* The leave is recorded before the real unlock, also for code that is not traced
 * if it releases what traced code took. */
static inline void leave(uintptr_t site, const void *lock, enum object_kind kind)
{
    struct thread *t = thread_at(site);
    struct hold *top = t && t->hold_count ? &t->holds[t->hold_count - 1] : NULL;
    if (LIKELY(top && is_hold_of(top, lock, kind) && top->depth == 1))
        leave_hold(t, top, site);
    else
        leave_other(t, site, lock, kind);
}

int follow_unlock(uintptr_t site, pthread_mutex_t *m)
{
    real_find();
    leave(site, m, OBJECT_MONITOR);
    return real.mutex_unlock(m);
}

ENTRY(int, pthread_mutex_unlock, (pthread_mutex_t * m), m) { return follow_unlock(site, m); }

ENTRY(int, pthread_spin_unlock, (pthread_spinlock_t * s), s)
{
    real_find();
    leave(site, (const void *)(uintptr_t)s, OBJECT_SPIN);
    return real.spin_unlock(s);
}

void follow_mutex_made(uintptr_t site, pthread_mutex_t *m) { object_made(m, OBJECT_MONITOR, site); }

ENTRY(int, pthread_mutex_init, (pthread_mutex_t * m, const pthread_mutexattr_t *attributes), m,
      attributes)
{
    real_find();
    int result = real.mutex_init(m, attributes);
    if (result == 0)
        object_made(m, OBJECT_MONITOR, site);
    return result;
}

ENTRY(int, pthread_mutex_destroy, (pthread_mutex_t * m), m)
{
    real_find();
    (void)site;
    int result = real.mutex_destroy(m);
    if (result == 0)
        object_destroy(m, OBJECT_MONITOR);
    return result;
}

ENTRY(int, pthread_spin_init, (pthread_spinlock_t * s, int shared), s, shared)
{
    real_find();
    int result = real.spin_init(s, shared);
    if (result == 0)
        object_made((const void *)(uintptr_t)s, OBJECT_SPIN, site);
    return result;
}

ENTRY(int, pthread_spin_destroy, (pthread_spinlock_t * s), s)
{
    real_find();
    (void)site;
    int result = real.spin_destroy(s);
    if (result == 0)
        object_destroy((const void *)(uintptr_t)s, OBJECT_SPIN);
    return result;
}
