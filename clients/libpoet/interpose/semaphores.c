/* POSIX semaphores: shared lines, on which a thread is for the time of one wait or post. */
#define _GNU_SOURCE
#include "clients/libpoet/core/tracer.h"
#include "clients/libpoet/interpose/hidden_uses.h"
#include "clients/libpoet/interpose/call_variant.h"
#include "clients/libpoet/core/type_codes.h"
#include "clients/libpoet/core/interposer.h"
#include "clients/libpoet/core/trace_line.h"
#include "clients/libpoet/core/modules.h"
#include "clients/libpoet/core/sync_object.h"
#include "clients/libpoet/core/record.h"
#include "clients/libpoet/core/thread.h"
#include "clients/libpoet/core/wait_stack.h"
#include "clients/libpoet/profile/instrument_hooks.h"
#include "clients/libpoet/replay/held_points.h"
#include "clients/libpoet/replay/thread_schedule.h"
#include "wire/annotation_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#undef UNTRACED_SITE
#define UNTRACED_SITE site_of_lock

/* Records the whole operation, or a part of it: take_a numbers on the thread's line, take_b on the
 * semaphore's.  text: NULL: none. */
static void semaphore_record_visit(struct traced_thread *t, uint16_t shape,
                                   struct trace_line *place, struct trace_line *line,
                                   unsigned take_a, unsigned take_b, uintptr_t site,
                                   const char *text)
{
    record_write(t,
                 &(struct record){.shape = shape,
                                  .flags = text ? SLOT_TEXT : 0,
                                  .a = place,
                                  .b = line,
                                  .take_a = take_a,
                                  .take_b = take_b,
                                  .site = site,
                                  .payload = text,
                                  .payload_bytes = text ? (uint32_t)strlen(text) : 0},
                 NULL);
    record_mark_nonempty();
}

/* Records a part in which the thread has to wait, or ends waits, with its call stack. */
static void semaphore_record_stack(struct traced_thread *t, uint16_t shape, struct trace_line *line,
                                   unsigned take, uintptr_t site)
{
    struct slot_stack stack;
    record_write(t,
                 &(struct record){.shape = shape,
                                  .a = thread_place(t),
                                  .b = line,
                                  .take_a = take,
                                  .take_b = take + 1,
                                  .site = site,
                                  .stack = wait_stack_read(site, &stack)},
                 NULL);
    record_mark_nonempty();
}

/* ---- what is recorded once about a semaphore, with an acquisition ---- */

#define SEMAPHORE_BINARY 1u /* its initial value is 1 */
#define SEMAPHORE_CONDITIONAL 2u /* an acquisition that need not wait until it succeeds */
#define SEMAPHORE_REMARKED 4u /* that was recorded */

static void semaphore_set_initial(const sem_t *s, bool binary)
{
    struct sync_object *o = sync_object_find(s, SYNC_SEMAPHORE);
    if (o)
        atomic_store_explicit(&o->remarks, binary ? SEMAPHORE_BINARY : 0, memory_order_relaxed);
}

static void semaphore_set_conditional(struct sync_object *o)
{
    if (!(atomic_load_explicit(&o->remarks, memory_order_relaxed) &
          (SEMAPHORE_CONDITIONAL | SEMAPHORE_REMARKED)))
        atomic_fetch_or(&o->remarks, SEMAPHORE_CONDITIONAL);
}

/* Returns the text for an acquisition; NULL: none. */
static const char *semaphore_remark(struct sync_object *o)
{
    uint8_t is = atomic_load_explicit(&o->remarks, memory_order_relaxed);
    if (LIKELY(!(is & (SEMAPHORE_BINARY | SEMAPHORE_CONDITIONAL))))
        return NULL;
    uint8_t rest = is & SEMAPHORE_CONDITIONAL ? SEMAPHORE_REMARKED : is & ~SEMAPHORE_BINARY;
    if (!atomic_compare_exchange_strong(&o->remarks, &is, rest))
        return NULL; /* another thread records one of them now, and this one the next time */
    return is & SEMAPHORE_CONDITIONAL ? TEXT_CONDITIONAL : TEXT_BINARY;
}

/* A recorded call has decremented it. */
static void semaphore_mark_acquired(struct traced_thread *t, struct sync_object *o)
{
    hidden_use_check(o, t, false);
    if (hidden_use_consume_unit(o))
        hidden_use_mark_uncertain(o);
}

/* And a call that is not recorded. */
static int semaphore_mark_acquired_untraced(int result, const sem_t *s)
{
    struct sync_object *o = result == 0 ? hidden_use_object(s, SYNC_SEMAPHORE) : NULL;
    if (o) {
        hidden_use_consume_unit(o);
        hidden_use_acquire(o);
    }
    return result;
}

struct blocked {
    struct traced_thread *thread;
    struct sync_object *object;
    struct trace_line *place, *line;
    uintptr_t site;
    int result, error;
};

static void semaphore_end_wait(void *p)
{
    struct blocked *b = p;
    instrument_wait_end(b->thread, TYPE_WAIT);
    uint16_t shape = b->result == 0          ? SHAPE_TAKEN
                     : b->error == ETIMEDOUT ? SHAPE_GAVE_UP
                                             : SHAPE_BROKEN;
    if (b->result == 0)
        semaphore_mark_acquired(b->thread, b->object);
    semaphore_record_visit(b->thread, shape, b->place, b->line, 1, 2, b->site,
                           b->result == 0 ? semaphore_remark(b->object) : NULL);
}

static int semaphore_call_real(enum call_variant how, sem_t *s, clockid_t clock,
                               const struct timespec *ts)
{
    return how == CALL_VARIANT_LOCK    ? real_functions.sem_wait(s)
           : how == CALL_VARIANT_TIMED ? real_functions.sem_timedwait(s, ts)
                                       : real_functions.sem_clockwait(s, clock, ts);
}

/* Returns whether the call can succeed at all: an invalid timeout is an error even if it is not
 * needed. */
static bool semaphore_args_valid(enum call_variant how, clockid_t clock, const struct timespec *ts)
{
    return how == CALL_VARIANT_LOCK ||
           (ts && ts->tv_nsec >= 0 && ts->tv_nsec < 1000000000 &&
            (how == CALL_VARIANT_TIMED || clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC));
}

/* Replays a wait: the schedule says whether the thread blocked, and when it resumed. */
static __attribute__((noinline)) int semaphore_replay_acquire(struct traced_thread *t,
                                                              const struct trace_line *line,
                                                              sem_t *s, uintptr_t site)
{
    int result;
    if (thread_schedule_next_type(t, 0) == TYPE_NONE) {
        if (tracer.replay.has_hold_points)
            hold_point_before_unit(t, line, site);
        thread_schedule_wait_rest(t, thread_schedule_line(t, line));
    }
    if (!thread_schedule_active(t) || thread_schedule_has_next(t, TYPE_WAIT) ||
        thread_schedule_has_next(t, TYPE_TIMED_WAIT))
        return thread_schedule_active(t) && thread_schedule_next_type(t, 0) != TYPE_NONE
                   ? -1
                   : real_functions.sem_trywait(s);
    thread_schedule_wait(t, TYPE_ACQUIRED);
    while ((result = real_functions.sem_wait(s)) != 0 && errno == EINTR)
        ;
    return result;
}

static __attribute__((noinline)) int
semaphore_replay_real(struct traced_thread *t, const struct trace_line *line, enum call_variant how,
                      sem_t *s, clockid_t clock, const struct timespec *ts)
{
    enum trace_type ends = thread_schedule_next_type(t, 0);
    int result;
    if (ends == TYPE_NONE)
        thread_schedule_wait_rest(t, thread_schedule_line(t, line));
    if (ends != TYPE_SEM_ACQUIRED && ends != TYPE_TIMEOUT && ends != TYPE_ACQUIRE_FAILED)
        return semaphore_call_real(how, s, clock, ts);
    thread_schedule_wait(t, ends);
    if (ends != TYPE_SEM_ACQUIRED) {
        errno = ends == TYPE_TIMEOUT ? ETIMEDOUT : EINTR;
        return -1;
    }
    while ((result = real_functions.sem_wait(s)) != 0 && errno == EINTR)
        ;
    return result;
}

static int semaphore_wait(uintptr_t site, enum call_variant how, sem_t *s, clockid_t clock,
                          const struct timespec *ts)
{
    real_find();
    struct traced_thread *t =
        site && semaphore_args_valid(how, clock, ts) ? thread_recording() : NULL;
    struct sync_object *o = t ? sync_object_get(s, SYNC_SEMAPHORE) : NULL;
    int saved = errno;
    struct trace_line *line = o ? sync_object_line(t, o, false) : NULL;
    errno = saved;
    if (!line)
        return semaphore_mark_acquired_untraced(semaphore_call_real(how, s, clock, ts), s);
    pthread_testcancel(); /* the real call is a cancellation point even if it does not block */
    struct trace_line *place = thread_place(t);
    int result = LIKELY(!replay_is_active()) ? real_functions.sem_trywait(s)
                                             : semaphore_replay_acquire(t, line, s, site);
    if (ts)
        semaphore_set_conditional(o);
    if (result == 0) {
        semaphore_mark_acquired(t, o);
        semaphore_record_visit(t, SHAPE_TAKE, place, line, 2, 3, site, semaphore_remark(o));
        errno = saved;
        return 0;
    }
    semaphore_record_stack(t, ts ? SHAPE_TIMED_AWAIT : SHAPE_AWAIT, line, 1, site);
    struct blocked b = {.thread = t,
                        .object = o,
                        .place = place,
                        .line = line,
                        .site = site,
                        .result = -1,
                        .error = EINTR};
    instrument_wait_begin(t, TYPE_WAIT, site);
    pthread_cleanup_push(semaphore_end_wait, &b);
    errno = saved;
    b.result = LIKELY(!replay_is_active()) ? semaphore_call_real(how, s, clock, ts)
                                           : semaphore_replay_real(t, line, how, s, clock, ts);
    b.error = errno;
    pthread_cleanup_pop(1);
    errno = b.error;
    return b.result;
}

ENTRY(int, sem_wait, (sem_t * s), s) { return semaphore_wait(site, CALL_VARIANT_LOCK, s, 0, NULL); }

ENTRY(int, sem_timedwait, (sem_t * s, const struct timespec *ts), s, ts)
{
    return semaphore_wait(site, CALL_VARIANT_TIMED, s, 0, ts);
}

ENTRY(int, sem_clockwait, (sem_t * s, clockid_t clock, const struct timespec *ts), s, clock, ts)
{
    return semaphore_wait(site, CALL_VARIANT_CLOCK, s, clock, ts);
}

/* The schedule also says whether it succeeded. */
static __attribute__((noinline)) int semaphore_replay_try(struct traced_thread *t,
                                                          const struct trace_line *line, sem_t *s,
                                                          uintptr_t site)
{
    if (t && thread_schedule_next_type(t, 0) == TYPE_ACQUIRE &&
        thread_schedule_next_type(t, 1) == TYPE_ACQUIRE_FAILED) {
        errno = EAGAIN;
        return -1;
    }
    return line ? semaphore_replay_acquire(t, line, s, site) : real_functions.sem_trywait(s);
}

ENTRY(int, sem_trywait, (sem_t * s), s)
{
    real_find();
    struct traced_thread *t = site ? thread_recording() : NULL;
    struct sync_object *o = t ? sync_object_get(s, SYNC_SEMAPHORE) : NULL;
    int saved = errno;
    struct trace_line *line = o ? sync_object_line(t, o, false) : NULL;
    errno = saved;
    int result = LIKELY(!replay_is_active()) ? real_functions.sem_trywait(s)
                                             : semaphore_replay_try(t, line, s, site),
        error = errno;
    if (!line)
        semaphore_mark_acquired_untraced(result, s);
    else if (result == 0)
        semaphore_mark_acquired(t, o);
    if (line)
        semaphore_set_conditional(o);
    if (line && result == 0)
        semaphore_record_visit(t, SHAPE_TAKE, thread_place(t), line, 2, 3, site,
                               semaphore_remark(o));
    else if (line)
        record_refused(t, line, false, site);
    errno = error;
    return result;
}

/* A post is recorded before it is made, but one that fails (EOVERFLOW) releases nothing. So if the
 * semaphore is near its maximum value, the post is recorded afterwards: no thread waits for it
 * then. */
static bool may_overflow(sem_t *s)
{
    int value;
    return sem_getvalue(s, &value) == 0 && value > SEM_VALUE_MAX / 2;
}

static int semaphore_post_late(struct traced_thread *t, sem_t *s, struct sync_object *o,
                               uintptr_t site)
{
    struct trace_line *line = &o->line;
    hidden_use_add_units(o, 1);
    int result = real_functions.sem_post(s), saved = errno;
    if (result != 0)
        hidden_use_add_units(o, -1);
    if (result == 0)
        semaphore_record_visit(t, SHAPE_POST, thread_place(t), line, 2, 3, site, NULL);
    else
        record_refused(t, line, true, site);
    errno = saved;
    return result;
}

static bool semaphore_is_awaited(const sem_t *s)
{
#if defined(__GLIBC__) && __WORDSIZE == 64
    return __atomic_load_n((const uint64_t *)(const void *)s, __ATOMIC_RELAXED) >> 32 != 0;
#else
    return s && false;
#endif
}

static int semaphore_post_untraced(sem_t *s)
{
    struct sync_object *o = hidden_use_object(s, SYNC_SEMAPHORE);
    if (o) {
        hidden_use_add_units(o, 1);
        hidden_use_release(o);
    }
    int result = real_functions.sem_post(s);
    if (o && result != 0)
        hidden_use_add_units(o, -1);
    return result;
}

ENTRY(int, sem_post, (sem_t * s), s)
{
    real_find();
    struct traced_thread *t = site ? thread_recording() : NULL;
    struct sync_object *o = t ? sync_object_get(s, SYNC_SEMAPHORE) : NULL;
    int saved = errno;
    struct trace_line *line = o ? sync_object_line(t, o, false) : NULL;
    errno = saved;
    if (!line)
        return semaphore_post_untraced(s);
    if (may_overflow(s))
        return semaphore_post_late(t, s, o, site);
    hidden_use_add_units(o, 1);
    if (semaphore_is_awaited(s))
        semaphore_record_stack(t, SHAPE_POST, line, 2, site);
    else
        semaphore_record_visit(t, SHAPE_POST, thread_place(t), line, 2, 3, site, NULL);
    errno = saved;
    return real_functions.sem_post(s);
}

ENTRY(int, sem_init, (sem_t * s, int shared, unsigned value), s, shared, value)
{
    real_find();
    int result = real_functions.sem_init(s, shared, value);
    if (result == 0)
        sync_object_created(s, SYNC_SEMAPHORE, site);
    if (result == 0)
        semaphore_set_initial(s, !shared && value == 1);
    if (result == 0 && !shared)
        hidden_use_set_units(s, value);
    return result;
}

ENTRY(int, sem_destroy, (sem_t * s), s)
{
    real_find();
    sync_object_record_destroy(s, SYNC_SEMAPHORE, site);
    int result = real_functions.sem_destroy(s);
    if (result == 0)
        sync_object_destroy(s, SYNC_SEMAPHORE);
    return result;
}

/* ---- by name ---- */

/* The address stays the same as long as it is open: one line, under its name. */
static void semaphore_record_opened(uintptr_t site, sem_t *s, const char *name)
{
    struct sync_object *o = sync_object_get(s, SYNC_SEMAPHORE);
    if (!o || atomic_fetch_add(&o->opened, 1) > 0)
        return;
    sync_object_renew(o);
    struct traced_thread *t = site ? thread_recording() : NULL;
    struct trace_line *line = t ? sync_object_line(t, o, true) : NULL;
    if (line)
        trace_line_rename(t, line, name);
}

static sem_t *semaphore_open_named(uintptr_t site, const char *name, int flags, va_list more)
{
    real_find();
    mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
    unsigned value = flags & O_CREAT ? va_arg(more, unsigned) : 0;
    sem_t *s = flags & O_CREAT ? real_functions.sem_open(name, flags, mode, value)
                               : real_functions.sem_open(name, flags);
    int saved = errno;
    if (s != SEM_FAILED)
        semaphore_record_opened(site, s, name);
    errno = saved;
    return s;
}

/* Used instead of ENTRY: the arguments are variadic. */
#define OPEN(...) OPEN_AS(__VA_ARGS__)
#define OPEN_AS(name, its_site)                                                                    \
    __attribute__((visibility("default"))) sem_t *name(const char *, int, ...);                    \
    sem_t *name(const char *which, int flags, ...)                                                 \
    {                                                                                              \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        sem_t *s = semaphore_open_named(its_site, which, flags, more);                             \
        va_end(more);                                                                              \
        return s;                                                                                  \
    }
OPEN(PLAIN(sem_open), site_of_untraced(SITE))
OPEN(poet_link_with_poetcc_trace__sem_open, site_of_traced(SITE))

ENTRY(int, sem_close, (sem_t * s), s)
{
    real_find();
    (void)site;
    struct sync_object *o = sync_object_find(s, SYNC_SEMAPHORE);
    int result = real_functions.sem_close(s);
    if (result == 0 && o && atomic_fetch_sub(&o->opened, 1) == 1)
        sync_object_destroy(s, SYNC_SEMAPHORE);
    return result;
}
