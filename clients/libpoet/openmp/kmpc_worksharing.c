/* Dynamically scheduled loops and single blocks of programs compiled with clang; sections are
 * assigned statically there. No call waits for others: in an ordered loop its sections and the end
 * of an iteration do. */
#include "clients/libpoet/openmp/omp_runtime.h"
#include "clients/libpoet/openmp/worksharing.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct session source; /* a call site, as clang passes it */

/* Schedules as clang and LLVM's runtime number them; an ordered loop's are larger by ORDERED. */
#define DYNAMIC 35
#define RUNTIME 37
#define ORDERED 32
#define MONOTONIC (1 << 29)
#define NONMONOTONIC (1 << 30)
#define KIND_DYNAMIC 2 /* omp_sched_dynamic of omp_get_schedule() */

/* Which iterations threads steal from each other depends on when each enters the loop, which is not
 * an event: where chunks are recorded, the schedule is monotonic, without stealing. */
static int kmpc_worksharing_without_stealing(int schedule, int64_t *chunk, const void *site)
{
    struct team_member *m = member_current();
    int plain = schedule & ~(MONOTONIC | NONMONOTONIC), kind = 0, most = 0;
    int ordered = plain == DYNAMIC + ORDERED || plain == RUNTIME + ORDERED ? ORDERED : 0;
    if (!worksharing_is_recorded(m))
        return schedule;
    if (plain == DYNAMIC + ordered)
        return plain | MONOTONIC;
    void (*chosen)(int *, int *) = REAL(omp_get_schedule, site, void, (int *, int *));
    if (plain != RUNTIME + ordered || !chosen)
        return schedule;
    chosen(&kind, &most);
    if ((kind & INT32_MAX) != KIND_DYNAMIC)
        return schedule;
    *chunk = most > 0 ? most : 1;
    return (DYNAMIC + ordered) | MONOTONIC;
}

#define LOOP(suffix, type, step)                                                                   \
    API void __kmpc_dispatch_init_##suffix(source *at, int32_t thread, int schedule, type lower,   \
                                           type upper, step stride, step chunk);                   \
    API void __kmpc_dispatch_init_##suffix(source *at, int32_t thread, int schedule, type lower,   \
                                           type upper, step stride, step chunk)                    \
    {                                                                                              \
        void (*call)(source *, int32_t, int, type, type, step, step) =                             \
            REAL(__kmpc_dispatch_init_##suffix, SITE, void,                                        \
                 (source *, int32_t, int, type, type, step, step));                                \
        int64_t most = chunk;                                                                      \
        schedule = kmpc_worksharing_without_stealing(schedule, &most, SITE);                       \
        if (call)                                                                                  \
            call(at, thread, schedule, lower, upper, stride, (step)most);                          \
    }                                                                                              \
    API int __kmpc_dispatch_next_##suffix(source *at, int32_t thread, int32_t *last, type *lower,  \
                                          type *upper, step *stride);                              \
    API int __kmpc_dispatch_next_##suffix(source *at, int32_t thread, int32_t *last, type *lower,  \
                                          type *upper, step *stride)                               \
    {                                                                                              \
        int (*call)(source *, int32_t, int32_t *, type *, type *, step *) =                        \
            REAL(__kmpc_dispatch_next_##suffix, SITE, int,                                         \
                 (source *, int32_t, int32_t *, type *, type *, step *));                          \
        return SHARE(member_current(), WORKSHARING_CHUNK, got != 0,                                \
                     call ? call(at, thread, last, lower, upper, stride) : 0);                     \
    }
LOOP(4, int32_t, int32_t)
LOOP(4u, uint32_t, int32_t)
LOOP(8, int64_t, int64_t)
LOOP(8u, uint64_t, int64_t)

API int32_t __kmpc_single(source *at, int32_t thread);
API int32_t __kmpc_single(source *at, int32_t thread)
{
    int32_t (*call)(source *, int32_t) = REAL(__kmpc_single, SITE, int32_t, (source *, int32_t));
    return SHARE(member_current(), WORKSHARING_SINGLE, got != 0, call ? call(at, thread) : 0);
}
