/* Mutexes.  What may block is tried first, so that a lock that is free is one
 * record, and one that is not shows its petition before the thread blocks. */
#define _GNU_SOURCE
#include "clients/trace/inside.h"

#include <errno.h>
#include <string.h>

/* A leave that the books are mended with: the visit of another thread ends here. */
static void mend(struct thread *t, struct line *line, uintptr_t site, const char *text)
{
    record_write(t, &(struct record){.shape = SHAPE_LEAVE,
                                     .flags = SLOT_TEXT,
                                     .a = thread_place(t),
                                     .b = line,
                                     .take_a = 1,
                                     .take_b = 1,
                                     .site = site,
                                     .payload = text,
                                     .payload_bytes = (uint32_t)strlen(text)}, NULL);
}

/* Locked for the first time by this thread: one record, or its second half. */
static void entered(struct thread *t, struct object *o, struct line *line, bool petitioned,
                    uintptr_t site)
{
    if (o->held)
        mend(t, line, site, "its holder was not seen leaving");
    o->held = true;
    o->visit++;
    record_write(t, &(struct record){.shape = petitioned ? SHAPE_ENTER : SHAPE_LOCK,
                                     .a = thread_place(t),
                                     .b = line,
                                     .take_a = petitioned ? 1 : 2,
                                     .take_b = 1,
                                     .site = site}, NULL);
    thread_push(t, o, line);
    note_recorded();
}

static void again(struct thread *t, struct hold *hold, uintptr_t site)
{
    hold->depth++;
    record_write(t, &(struct record){.shape = SHAPE_AGAIN, .a = hold->line, .take_a = 2,
                                     .about = atomic_load(&hold->line->index), .site = site},
                 NULL);
}

static void refused(struct thread *t, struct line *line, bool petitioned, uintptr_t site)
{
    record_write(t, &(struct record){.shape = petitioned ? TYPE_REFUSED : (int)SHAPE_REFUSED,
                                     .a = thread_place(t),
                                     .take_a = petitioned ? 1 : 2,
                                     .about = atomic_load(&line->index),
                                     .site = site}, NULL);
}

/* A lock that is not recorded: the books only. */
static int unrecorded_lock(int result, pthread_mutex_t *m)
{
    if (result == 0 || result == EOWNERDEAD) {
        struct object *o = object_find(m, OBJECT_MONITOR);
        if (o) {
            struct thread *t = thread_self();
            struct hold *hold = t ? thread_hold(t, o) : NULL;
            if (hold)
                hold->depth++;
            else
                o->visit++;
        }
    }
    return result;
}

enum how { LOCK, TRYLOCK, TIMEDLOCK, CLOCKLOCK };

static int really(enum how how, pthread_mutex_t *m, clockid_t clock, const struct timespec *ts)
{
    switch (how) {
    case TRYLOCK:
        return real.mutex_trylock(m);
    case TIMEDLOCK:
        return real.mutex_timedlock(m, ts);
    case CLOCKLOCK:
        return real.mutex_clocklock(m, clock, ts);
    default:
        return real.mutex_lock(m);
    }
}

static int lock(uintptr_t site, enum how how, pthread_mutex_t *m, clockid_t clock,
                const struct timespec *ts)
{
    real_find();
    bool odd = how == CLOCKLOCK && clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC;
    struct thread *t = site && !odd ? thread_recording() : NULL;
    struct object *o = t ? object_get(m, OBJECT_MONITOR) : NULL;
    if (!o)
        return unrecorded_lock(really(how, m, clock, ts), m);
    int saved = errno;
    struct line *line = object_line(t, o, false);
    if (!line)
        return unrecorded_lock(really(how, m, clock, ts), m);
    struct hold *hold = thread_hold(t, o);
    int result = real.mutex_trylock(m);
    bool petitioned = false;
    if (result == EBUSY && how != TRYLOCK) {
        record_event(t, TYPE_PETITION, thread_place(t), atomic_load(&line->index), site);
        petitioned = true;
        t->waiting++;
        errno = saved;
        result = really(how, m, clock, ts);
        t->waiting--;
    }
    if (result != 0 && result != EOWNERDEAD)
        refused(t, line, petitioned, site);
    else if (hold)
        again(t, hold, site);
    else
        entered(t, o, line, petitioned, site);
    errno = saved;
    return result;
}

ENTRY(int, pthread_mutex_lock, (pthread_mutex_t * m), m)
{
    return lock(site, LOCK, m, 0, NULL);
}

ENTRY(int, pthread_mutex_trylock, (pthread_mutex_t * m), m)
{
    return lock(site, TRYLOCK, m, 0, NULL);
}

ENTRY(int, pthread_mutex_timedlock, (pthread_mutex_t * m, const struct timespec *ts), m, ts)
{
    return lock(site, TIMEDLOCK, m, 0, ts);
}

ENTRY(int, pthread_mutex_clocklock,
      (pthread_mutex_t * m, clockid_t clock, const struct timespec *ts), m, clock, ts)
{
    return lock(site, CLOCKLOCK, m, clock, ts);
}

/* Mutexes that check do not let others unlock them; the call will fail. */
static bool may_be_unlocked_by_others(const pthread_mutex_t *m)
{
#ifdef __GLIBC__
    int kind = m->__data.__kind & 127;
    return kind == PTHREAD_MUTEX_TIMED_NP || kind == PTHREAD_MUTEX_ADAPTIVE_NP;
#else
    return false;
#endif
}

/* The leave is recorded before the real unlock, also for code that is not traced
 * if it releases what traced code took. */
ENTRY(int, pthread_mutex_unlock, (pthread_mutex_t * m), m)
{
    real_find();
    struct object *o = object_find(m, OBJECT_MONITOR);
    struct thread *t = o ? thread_recording() : NULL;
    struct hold *hold = t ? thread_hold(t, o) : NULL;
    if (hold) {
        int saved = errno;
        struct line *line = hold->line;
        if (--hold->depth) {
            record_event(t, TYPE_LEAVE, line, 0, site);
        } else {
            thread_pop(t, hold);
            o->held = false;
            record_write(t, &(struct record){.shape = SHAPE_LEAVE,
                                             .a = thread_place(t),
                                             .b = line,
                                             .take_a = 1,
                                             .take_b = 1,
                                             .site = site}, NULL);
        }
        errno = saved;
    } else if (o && t && site && o->held && may_be_unlocked_by_others(m)) {
        int saved = errno;
        o->visit++; /* the hold of the thread that took it is stale now */
        o->held = false;
        mend(t, &o->line, site, "unlocked by a thread that did not lock it");
        errno = saved;
    }
    return real.mutex_unlock(m);
}

ENTRY(int, pthread_mutex_init, (pthread_mutex_t * m, const pthread_mutexattr_t *attributes), m,
      attributes)
{
    real_find();
    int result = real.mutex_init(m, attributes);
    if (result == 0) {
        int saved = errno;
        object_destroy(m, OBJECT_MONITOR); /* the address may have been another's */
        struct thread *t = site ? thread_recording() : NULL;
        struct object *o = t ? object_get(m, OBJECT_MONITOR) : NULL;
        if (o)
            object_line(t, o, true);
        errno = saved;
    }
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
