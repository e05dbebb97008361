/* Locks of OpenMP: one thread at a time is in each.  Both runtimes have the same calls, and Fortran's have a _ behind. */
#include "clients/trace/omp/events.h"
#include "clients/trace/omp/lines.h"
#include "clients/trace/omp/real.h"

#include <stdbool.h>
#include <stdint.h>

typedef void lock_call(void *lock);
typedef int test_call(void *lock);

static void begins(void *lock, const void *site)
{
    line_forget(LINE_LOCK, lock);
    line_of(LINE_LOCK, lock, "", site);
}

/* Of a lock that nests the outermost visit is told. */
static void got(void *lock, bool nests, poet_line_t line, const void *site)
{
    unsigned *depth = nests && line ? line_depth(LINE_LOCK, lock) : NULL;
    if (!nests || (depth && (*depth)++ == 0))
        line_enter(line, site);
}

/* One that is free is tried first, so that only who waits has asked. */
static void set(void *lock, bool nests, lock_call *call, test_call *test, const void *site)
{
    poet_line_t line = line_of(LINE_LOCK, lock, "", site);
    if (!line || !test || !test(lock)) {
        if (line)
            note(EVENT_petition, line, 0, site);
        if (call)
            call(lock);
    }
    got(lock, nests, line, site);
}

static void unset(void *lock, bool nests, lock_call *call, const void *site)
{
    unsigned *depth = nests ? line_depth(LINE_LOCK, lock) : NULL;
    if (!nests || (depth && *depth && --*depth == 0))
        line_leave(LINE_LOCK, lock, site);
    if (call)
        call(lock);
}

static int test(void *lock, bool nests, test_call *call, const void *site)
{
    int result = call ? call(lock) : 0;
    poet_line_t line = line_of(LINE_LOCK, lock, "", site);
    if (result)
        got(lock, nests, line, site);
    else if (line)
        note(EVENT_refused, line, 0, site);
    return result;
}

#define CALL(type, name) ((type *)(uintptr_t)real_call(REAL_##name, SITE))

/* All calls of one kind of lock, for one language; hint: what it gives as one. */
#define LOCK(kind, nests, _, hint)                                                                 \
    API lock_call omp_init_##kind##_, omp_destroy_##kind##_, omp_set_##kind##_,                    \
        omp_unset_##kind##_;                                                                       \
    API test_call omp_test_##kind##_;                                                              \
    API void omp_init_##kind##_with_hint##_(void *lock, hint how);                                 \
    API void omp_init_##kind##_with_hint##_(void *lock, hint how)                                  \
    {                                                                                              \
        void (*call)(void *, hint) =                                                               \
            REAL(omp_init_##kind##_with_hint##_, SITE, void, (void *, hint));                      \
        begins(lock, SITE);                                                                        \
        if (call)                                                                                  \
            call(lock, how);                                                                       \
    }                                                                                              \
    API void omp_init_##kind##_(void *lock)                                                        \
    {                                                                                              \
        lock_call *call = CALL(lock_call, omp_init_##kind##_);                                     \
        begins(lock, SITE);                                                                        \
        if (call)                                                                                  \
            call(lock);                                                                            \
    }                                                                                              \
    API void omp_destroy_##kind##_(void *lock)                                                     \
    {                                                                                              \
        lock_call *call = CALL(lock_call, omp_destroy_##kind##_);                                  \
        line_forget(LINE_LOCK, lock);                                                              \
        if (call)                                                                                  \
            call(lock);                                                                            \
    }                                                                                              \
    API void omp_set_##kind##_(void *lock)                                                         \
    {                                                                                              \
        set(lock, nests, CALL(lock_call, omp_set_##kind##_), CALL(test_call, omp_test_##kind##_),  \
            SITE);                                                                                 \
    }                                                                                              \
    API void omp_unset_##kind##_(void *lock)                                                       \
    {                                                                                              \
        unset(lock, nests, CALL(lock_call, omp_unset_##kind##_), SITE);                            \
    }                                                                                              \
    API int omp_test_##kind##_(void *lock)                                                         \
    {                                                                                              \
        return test(lock, nests, CALL(test_call, omp_test_##kind##_), SITE);                       \
    }
LOCK(lock, false, , int)
LOCK(nest_lock, true, , int)
LOCK(lock, false, _, void *)
LOCK(nest_lock, true, _, void *)
