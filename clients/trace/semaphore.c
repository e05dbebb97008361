/* POSIX semaphores: shared lines, visited for the time of one P or V. */
#define _GNU_SOURCE
#include "clients/trace/inside.h"

#include <errno.h>

/* The whole visit, or a part of it: take_a numbers on the thread's line, take_b on
 * the semaphore's. */
static void visit(struct thread *t, uint16_t shape, struct line *place, struct line *line,
                  unsigned take_a, unsigned take_b, uintptr_t site)
{
    record_write(t, &(struct record){.shape = shape,
                                     .a = place,
                                     .b = line,
                                     .take_a = take_a,
                                     .take_b = take_b,
                                     .site = site}, NULL);
    note_recorded();
}

enum how { WAIT, TIMED, CLOCKED };

struct blocked {
    struct thread *thread;
    struct line *place, *line;
    uintptr_t site;
    int result, error;
};

static void leave(void *p)
{
    struct blocked *b = p;
    b->thread->waiting--;
    uint16_t shape = b->result == 0              ? SHAPE_TAKEN
                     : b->error == ETIMEDOUT ? SHAPE_GAVE_UP
                                             : SHAPE_BROKEN;
    visit(b->thread, shape, b->place, b->line, 1, 2, b->site);
}

static int really(enum how how, sem_t *s, clockid_t clock, const struct timespec *ts)
{
    return how == WAIT    ? real.sem_wait(s)
           : how == TIMED ? real.sem_timedwait(s, ts)
                          : real.sem_clockwait(s, clock, ts);
}

/* Whether the call can succeed at all: a wrong time is an error even if it need not be used. */
static bool plausible(enum how how, clockid_t clock, const struct timespec *ts)
{
    return how == WAIT || (ts && ts->tv_nsec >= 0 && ts->tv_nsec < 1000000000 &&
                           (how == TIMED || clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC));
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
        return really(how, s, clock, ts);
    pthread_testcancel(); /* the real one is a cancellation point even if it need not block */
    struct line *place = thread_place(t);
    int result = real.sem_trywait(s);
    if (result == 0) {
        visit(t, SHAPE_TAKE, place, line, 2, 3, site);
        errno = saved;
        return 0;
    }
    visit(t, SHAPE_AWAIT, place, line, 1, 2, site);
    struct blocked b = {.thread = t, .place = place, .line = line, .site = site, .result = -1,
                        .error = EINTR};
    t->waiting++;
    pthread_cleanup_push(leave, &b);
    errno = saved;
    b.result = really(how, s, clock, ts);
    b.error = errno;
    pthread_cleanup_pop(1);
    errno = b.error;
    return b.result;
}

ENTRY(int, sem_wait, (sem_t * s), s) { return wait(site, WAIT, s, 0, NULL); }

ENTRY(int, sem_timedwait, (sem_t * s, const struct timespec *ts), s, ts)
{
    return wait(site, TIMED, s, 0, ts);
}

ENTRY(int, sem_clockwait, (sem_t * s, clockid_t clock, const struct timespec *ts), s, clock, ts)
{
    return wait(site, CLOCKED, s, clock, ts);
}

ENTRY(int, sem_trywait, (sem_t * s), s)
{
    real_find();
    struct thread *t = site ? thread_recording() : NULL;
    struct object *o = t ? object_get(s, OBJECT_SEMAPHORE) : NULL;
    int saved = errno;
    struct line *line = o ? object_line(t, o, false) : NULL;
    errno = saved;
    int result = real.sem_trywait(s), error = errno;
    if (line && result == 0)
        visit(t, SHAPE_TAKE, thread_place(t), line, 2, 3, site);
    else if (line)
        record_write(t, &(struct record){.shape = SHAPE_REFUSED, .a = thread_place(t), .take_a = 2,
                                         .about = atomic_load(&line->index), .site = site}, NULL);
    errno = error;
    return result;
}

ENTRY(int, sem_post, (sem_t * s), s)
{
    real_find();
    struct thread *t = site ? thread_recording() : NULL;
    struct object *o = t ? object_get(s, OBJECT_SEMAPHORE) : NULL;
    int saved = errno;
    struct line *line = o ? object_line(t, o, false) : NULL;
    if (line)
        visit(t, SHAPE_POST, thread_place(t), line, 2, 3, site);
    errno = saved;
    return real.sem_post(s);
}

ENTRY(int, sem_init, (sem_t * s, int shared, unsigned value), s, shared, value)
{
    real_find();
    int result = real.sem_init(s, shared, value), error = errno;
    if (result == 0) {
        object_destroy(s, OBJECT_SEMAPHORE);
        struct thread *t = site ? thread_recording() : NULL;
        struct object *o = t ? object_get(s, OBJECT_SEMAPHORE) : NULL;
        if (o)
            object_line(t, o, true);
    }
    errno = error;
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
