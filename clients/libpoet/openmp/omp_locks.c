/* Locks of OpenMP: one thread at a time holds each. Both runtimes have the same calls, and
 * Fortran's end with _. */
#include "clients/libpoet/openmp/omp_events.h"
#include "clients/libpoet/openmp/omp_objects.h"
#include "clients/libpoet/openmp/omp_runtime.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

typedef void lock_call(void *lock);
typedef int test_call(void *lock);

static void omp_lock_begin(void *lock, const void *site)
{
    omp_object_forget(OMP_OBJECT_LOCK, lock);
    omp_object_line(OMP_OBJECT_LOCK, lock, "", site);
}

/* For a nestable lock only the outermost acquisition is recorded. */
static void omp_lock_acquired(void *lock, bool nests, poet_line_t line, const void *site)
{
    unsigned *depth = nests && line ? omp_object_depth(OMP_OBJECT_LOCK, lock) : NULL;
    if (!nests || (depth && (*depth)++ == 0))
        omp_object_enter(line, site);
}

/* The calls of one kind of lock. */
struct omp_lock_calls {
    lock_call *set, *unset;
    test_call *test;
};

/* Returns, for a nestable lock that the caller holds, the new nesting depth after acquiring it,
 * which is no event and needs no request; 0: the caller does not hold it. */
static int omp_lock_inner_depth(void *lock, bool nests, const struct omp_lock_calls *real)
{
    int depth = nests && real->test && real->unset ? real->test(lock) : 0;
    if (depth == 1)
        real->unset(lock);
    return depth > 1 ? depth : 0;
}

/* In a replayed run: requested as recorded, and acquired in its turn. */
static void omp_lock_replay_acquire(void *lock, bool nests, poet_line_t line, bool requested,
                                    const struct omp_lock_calls *real, const void *site)
{
    if (omp_lock_inner_depth(lock, nests, real))
        return;
    if (requested)
        event_record(EVENT_acquire, line, 0, site);
    poet_replay_wait_turn(line, event_type(EVENT_acquired));
    if (real->set)
        real->set(lock);
}

/* A free lock is acquired by a try, so that only a thread that blocks records a request. */
static void omp_lock_acquire(void *lock, bool nests, struct omp_lock_calls real, const void *site)
{
    poet_line_t line = omp_object_line(OMP_OBJECT_LOCK, lock, "", site);
    int requested = line ? poet_replay_next_is(event_type(EVENT_acquire), -1) : -1;
    if (requested >= 0) {
        omp_lock_replay_acquire(lock, nests, line, requested, &real, site);
    } else if (!line || !real.test || !real.test(lock)) {
        if (line)
            event_record(EVENT_acquire, line, 0, site);
        if (real.set)
            real.set(lock);
    }
    omp_lock_acquired(lock, nests, line, site);
}

static void omp_lock_release(void *lock, bool nests, lock_call *call, const void *site)
{
    unsigned *depth = nests ? omp_object_depth(OMP_OBJECT_LOCK, lock) : NULL;
    if (!nests || (depth && *depth && --*depth == 0))
        omp_object_leave(OMP_OBJECT_LOCK, lock, site);
    if (call)
        call(lock);
}

#define TRIES_MOST 1000 /* a millisecond each */

/* In a replayed run: the recorded result. The previous holder releases it right after recording
 * that. */
static int omp_lock_replay_try(void *lock, bool nests, poet_line_t line, bool refused,
                               const struct omp_lock_calls *real)
{
    int result = omp_lock_inner_depth(lock, nests, real);
    if (result || refused || !real->test)
        return result;
    poet_replay_wait_turn(line, event_type(EVENT_acquired));
    for (int i = 0; i < TRIES_MOST && !(result = real->test(lock)); i++)
        syscall(SYS_nanosleep, &(struct timespec){0, 1000000}, NULL); /* no cancellation point */
    return result;
}

static int omp_lock_try(void *lock, bool nests, struct omp_lock_calls real, const void *site)
{
    poet_line_t line = omp_object_line(OMP_OBJECT_LOCK, lock, "", site);
    int refused = line ? poet_replay_next_is(event_type(EVENT_acquire_failed), -1) : -1;
    int result = refused >= 0 ? omp_lock_replay_try(lock, nests, line, refused, &real)
                 : real.test  ? real.test(lock)
                              : 0;
    if (result)
        omp_lock_acquired(lock, nests, line, site);
    else if (line)
        event_record(EVENT_acquire_failed, line, 0, site);
    return result;
}

#define CALL(type, name) ((type *)(uintptr_t)omp_runtime_function(REAL_##name, SITE))
#define CALLS(kind, _)                                                                             \
    (struct omp_lock_calls)                                                                        \
    {                                                                                              \
        .set = CALL(lock_call, omp_set_##kind##_), .unset = CALL(lock_call, omp_unset_##kind##_),  \
        .test = CALL(test_call, omp_test_##kind##_)                                                \
    }

/* Defines all calls of one kind of lock, for one language; hint: the argument of a hint. */
#define LOCK(kind, nests, _, hint)                                                                 \
    API lock_call omp_init_##kind##_, omp_destroy_##kind##_, omp_set_##kind##_,                    \
        omp_unset_##kind##_;                                                                       \
    API test_call omp_test_##kind##_;                                                              \
    API void omp_init_##kind##_with_hint##_(void *lock, hint how);                                 \
    API void omp_init_##kind##_with_hint##_(void *lock, hint how)                                  \
    {                                                                                              \
        void (*call)(void *, hint) =                                                               \
            REAL(omp_init_##kind##_with_hint##_, SITE, void, (void *, hint));                      \
        omp_lock_begin(lock, SITE);                                                                \
        if (call)                                                                                  \
            call(lock, how);                                                                       \
    }                                                                                              \
    API void omp_init_##kind##_(void *lock)                                                        \
    {                                                                                              \
        lock_call *call = CALL(lock_call, omp_init_##kind##_);                                     \
        omp_lock_begin(lock, SITE);                                                                \
        if (call)                                                                                  \
            call(lock);                                                                            \
    }                                                                                              \
    API void omp_destroy_##kind##_(void *lock)                                                     \
    {                                                                                              \
        lock_call *call = CALL(lock_call, omp_destroy_##kind##_);                                  \
        omp_object_forget(OMP_OBJECT_LOCK, lock);                                                  \
        if (call)                                                                                  \
            call(lock);                                                                            \
    }                                                                                              \
    API void omp_set_##kind##_(void *lock)                                                         \
    {                                                                                              \
        omp_lock_acquire(lock, nests, CALLS(kind, _), SITE);                                       \
    }                                                                                              \
    API void omp_unset_##kind##_(void *lock)                                                       \
    {                                                                                              \
        omp_lock_release(lock, nests, CALL(lock_call, omp_unset_##kind##_), SITE);                 \
    }                                                                                              \
    API int omp_test_##kind##_(void *lock)                                                         \
    {                                                                                              \
        return omp_lock_try(lock, nests, CALLS(kind, _), SITE);                                    \
    }
LOCK(lock, false, , int)
LOCK(nest_lock, true, , int)
LOCK(lock, false, _, void *)
LOCK(nest_lock, true, _, void *)
