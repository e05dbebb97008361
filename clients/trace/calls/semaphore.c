/* POSIX semaphores: shared lines, visited for the time of one P or V. */
#define _GNU_SOURCE
#include "clients/trace/calls/hidden.h"
#include "clients/trace/calls/how.h"
#include "clients/trace/core/codes.h"
#include "clients/trace/core/entry.h"
#include "clients/trace/core/line.h"
#include "clients/trace/core/module.h"
#include "clients/trace/core/object.h"
#include "clients/trace/core/record.h"
#include "clients/trace/core/thread.h"
#include "clients/trace/measure/hooks.h"
#include "clients/trace/replay/part.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <time.h>

#undef UNTRACED_SITE
#define UNTRACED_SITE site_of_lock

/* The whole visit, or a part of it: take_a numbers on the thread's line, take_b on
 * the semaphore's. */
static void visit(struct thread *t, uint16_t shape, struct line *place, struct line *line,
                  unsigned take_a, unsigned take_b, uintptr_t site)
{
    record_write(t,
                 &(struct record){.shape = shape,
                                  .a = place,
                                  .b = line,
                                  .take_a = take_a,
                                  .take_b = take_b,
                                  .site = site},
                 NULL);
    note_recorded();
}

/* A unit is taken by a recorded call. */
static void took(struct thread *t, struct object *o)
{
    hidden_meets(o, t, false);
    if (hidden_unit(o))
        hidden_doubt(o);
}

/* And by one that is not. */
static int took_unrecorded(int result, const sem_t *s)
{
    struct object *o = result == 0 ? hidden_object(s, OBJECT_SEMAPHORE) : NULL;
    if (o) {
        hidden_unit(o);
        hidden_takes(o);
    }
    return result;
}

struct blocked {
    struct thread *thread;
    struct object *object;
    struct line *place, *line;
    uintptr_t site;
    int result, error;
};

static void leave(void *p)
{
    struct blocked *b = p;
    hooks_go_on(b->thread, TYPE_WAIT);
    uint16_t shape = b->result == 0          ? SHAPE_TAKEN
                     : b->error == ETIMEDOUT ? SHAPE_GAVE_UP
                                             : SHAPE_BROKEN;
    if (b->result == 0)
        took(b->thread, b->object);
    visit(b->thread, shape, b->place, b->line, 1, 2, b->site);
}

static int really(enum how how, sem_t *s, clockid_t clock, const struct timespec *ts)
{
    return how == HOW_LOCK    ? real.sem_wait(s)
           : how == HOW_TIMED ? real.sem_timedwait(s, ts)
                              : real.sem_clockwait(s, clock, ts);
}

/* Whether the call can succeed at all: a wrong time is an error even if it need not be used. */
static bool plausible(enum how how, clockid_t clock, const struct timespec *ts)
{
    return how == HOW_LOCK ||
           (ts && ts->tv_nsec >= 0 && ts->tv_nsec < 1000000000 &&
            (how == HOW_TIMED || clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC));
}

/* As it was: the script says whether the thread had to wait, and when it got a unit. */
static __attribute__((noinline)) int take_again(struct thread *t, const struct line *line, sem_t *s)
{
    int result;
    if (part_type(t, 0) == TYPE_NONE)
        part_await_rest(t, part_line(t, line));
    if (!part_plays(t) || part_has(t, TYPE_WAIT) || part_has(t, TYPE_TIMED_WAIT))
        return part_plays(t) && part_type(t, 0) != TYPE_NONE ? -1 : real.sem_trywait(s);
    part_await(t, TYPE_ENTERED);
    while ((result = real.sem_wait(s)) != 0 && errno == EINTR)
        ;
    return result;
}

static __attribute__((noinline)) int really_again(struct thread *t, const struct line *line,
                                                  enum how how, sem_t *s, clockid_t clock,
                                                  const struct timespec *ts)
{
    enum trace_type ends = part_type(t, 0);
    int result;
    if (ends == TYPE_NONE)
        part_await_rest(t, part_line(t, line));
    if (ends != TYPE_TAKEN && ends != TYPE_TIMEOUT && ends != TYPE_REFUSED)
        return really(how, s, clock, ts);
    part_await(t, ends);
    if (ends != TYPE_TAKEN) {
        errno = ends == TYPE_TIMEOUT ? ETIMEDOUT : EINTR;
        return -1;
    }
    while ((result = real.sem_wait(s)) != 0 && errno == EINTR)
        ;
    return result;
}

static int wait(uintptr_t site, enum how how, sem_t *s, clockid_t clock, const struct timespec *ts)
{
    real_find();
    struct thread *t = site && plausible(how, clock, ts) ? thread_recording() : NULL;
    struct object *o = t ? object_get(s, OBJECT_SEMAPHORE) : NULL;
    int saved = errno;
    struct line *line = o ? object_line(t, o, false) : NULL;
    errno = saved;
    if (!line)
        return took_unrecorded(really(how, s, clock, ts), s);
    pthread_testcancel(); /* the real one is a cancellation point even if it need not block */
    struct line *place = thread_place(t);
    int result = LIKELY(!replays) ? real.sem_trywait(s) : take_again(t, line, s);
    if (result == 0) {
        took(t, o);
        visit(t, SHAPE_TAKE, place, line, 2, 3, site);
        errno = saved;
        return 0;
    }
    visit(t, ts ? SHAPE_TIMED_AWAIT : SHAPE_AWAIT, place, line, 1, 2, site);
    struct blocked b = {.thread = t,
                        .object = o,
                        .place = place,
                        .line = line,
                        .site = site,
                        .result = -1,
                        .error = EINTR};
    hooks_wait(t, TYPE_WAIT, site);
    pthread_cleanup_push(leave, &b);
    errno = saved;
    b.result =
        LIKELY(!replays) ? really(how, s, clock, ts) : really_again(t, line, how, s, clock, ts);
    b.error = errno;
    pthread_cleanup_pop(1);
    errno = b.error;
    return b.result;
}

ENTRY(int, sem_wait, (sem_t * s), s) { return wait(site, HOW_LOCK, s, 0, NULL); }

ENTRY(int, sem_timedwait, (sem_t * s, const struct timespec *ts), s, ts)
{
    return wait(site, HOW_TIMED, s, 0, ts);
}

ENTRY(int, sem_clockwait, (sem_t * s, clockid_t clock, const struct timespec *ts), s, clock, ts)
{
    return wait(site, HOW_CLOCK, s, clock, ts);
}

/* Whether it got one is in the script, too. */
static __attribute__((noinline)) int try_again(struct thread *t, const struct line *line, sem_t *s)
{
    if (t && part_type(t, 0) == TYPE_PETITION && part_type(t, 1) == TYPE_REFUSED) {
        errno = EAGAIN;
        return -1;
    }
    return line ? take_again(t, line, s) : real.sem_trywait(s);
}

ENTRY(int, sem_trywait, (sem_t * s), s)
{
    real_find();
    struct thread *t = site ? thread_recording() : NULL;
    struct object *o = t ? object_get(s, OBJECT_SEMAPHORE) : NULL;
    int saved = errno;
    struct line *line = o ? object_line(t, o, false) : NULL;
    errno = saved;
    int result = LIKELY(!replays) ? real.sem_trywait(s) : try_again(t, line, s), error = errno;
    if (!line)
        took_unrecorded(result, s);
    else if (result == 0)
        took(t, o);
    if (line && result == 0)
        visit(t, SHAPE_TAKE, thread_place(t), line, 2, 3, site);
    else if (line)
        record_refused(t, line, false, site);
    errno = error;
    return result;
}

/* A post is recorded before it is made, but one that finds no room for it gives nothing.  So where the
 * semaphore is near its greatest value, it is recorded after it: nobody waits for it there. */
static bool may_overflow(sem_t *s)
{
    int value;
    return sem_getvalue(s, &value) == 0 && value > SEM_VALUE_MAX / 2;
}

static int post_late(struct thread *t, sem_t *s, struct object *o, uintptr_t site)
{
    struct line *line = &o->line;
    hidden_posts(o, 1);
    int result = real.sem_post(s), saved = errno;
    if (result != 0)
        hidden_posts(o, -1);
    if (result == 0)
        visit(t, SHAPE_POST, thread_place(t), line, 2, 3, site);
    else
        record_refused(t, line, true, site);
    errno = saved;
    return result;
}

static int post_unrecorded(sem_t *s)
{
    struct object *o = hidden_object(s, OBJECT_SEMAPHORE);
    if (o) {
        hidden_posts(o, 1);
        hidden_gives(o);
    }
    int result = real.sem_post(s);
    if (o && result != 0)
        hidden_posts(o, -1);
    return result;
}

ENTRY(int, sem_post, (sem_t * s), s)
{
    real_find();
    struct thread *t = site ? thread_recording() : NULL;
    struct object *o = t ? object_get(s, OBJECT_SEMAPHORE) : NULL;
    int saved = errno;
    struct line *line = o ? object_line(t, o, false) : NULL;
    errno = saved;
    if (!line)
        return post_unrecorded(s);
    if (may_overflow(s))
        return post_late(t, s, o, site);
    hidden_posts(o, 1);
    visit(t, SHAPE_POST, thread_place(t), line, 2, 3, site);
    errno = saved;
    return real.sem_post(s);
}

ENTRY(int, sem_init, (sem_t * s, int shared, unsigned value), s, shared, value)
{
    real_find();
    int result = real.sem_init(s, shared, value);
    if (result == 0)
        object_made(s, OBJECT_SEMAPHORE, site);
    if (result == 0 && !shared)
        hidden_counts(s, value);
    return result;
}

ENTRY(int, sem_destroy, (sem_t * s), s)
{
    real_find();
    (void)site;
    int result = real.sem_destroy(s);
    if (result == 0)
        object_destroy(s, OBJECT_SEMAPHORE);
    return result;
}

/* ---- by name ---- */

/* The same address as long as it is open: one line, under its name. */
static void opened(uintptr_t site, sem_t *s, const char *name)
{
    struct object *o = object_get(s, OBJECT_SEMAPHORE);
    if (!o || atomic_fetch_add(&o->opened, 1) > 0)
        return;
    object_renew(o);
    struct thread *t = site ? thread_recording() : NULL;
    struct line *line = t ? object_line(t, o, true) : NULL;
    if (line)
        line_rename(t, line, name);
}

static sem_t *open_named(uintptr_t site, const char *name, int flags, va_list more)
{
    real_find();
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    unsigned value = flags & O_CREAT ? va_arg(more, unsigned) : 0;
    sem_t *s =
        flags & O_CREAT ? real.sem_open(name, flags, mode, value) : real.sem_open(name, flags);
    int saved = errno;
    if (s != SEM_FAILED)
        opened(site, s, name);
    errno = saved;
    return s;
}

/* What ENTRY cannot say: the arguments are not all named. */
#define OPEN(...) OPEN_AS(__VA_ARGS__)
#define OPEN_AS(name, its_site)                                                                    \
    __attribute__((visibility("default"))) sem_t *name(const char *, int, ...);                    \
    sem_t *name(const char *which, int flags, ...)                                                 \
    {                                                                                              \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        sem_t *s = open_named(its_site, which, flags, more);                                       \
        va_end(more);                                                                              \
        return s;                                                                                  \
    }
OPEN(PLAIN(sem_open), site_of_untraced(SITE))
OPEN(poet_link_with_poetcc_trace__sem_open, site_of_traced(SITE))

ENTRY(int, sem_close, (sem_t * s), s)
{
    real_find();
    (void)site;
    struct object *o = object_find(s, OBJECT_SEMAPHORE);
    int result = real.sem_close(s);
    if (result == 0 && o && atomic_fetch_sub(&o->opened, 1) == 1)
        object_destroy(s, OBJECT_SEMAPHORE);
    return result;
}
