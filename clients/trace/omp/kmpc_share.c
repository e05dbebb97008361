/* Loops that give out their iterations as they go, and single blocks, of programs that clang compiled; sections are given out
 * beforehand there.  No call waits for others: in an ordered loop that is done by those of its sections, and at an iteration's end. */
#include "clients/trace/omp/real.h"
#include "clients/trace/omp/share.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct source source; /* where a call stands, as clang says it */

#define LOOP(suffix, type, step)                                                                   \
    API int __kmpc_dispatch_next_##suffix(source *at, int32_t thread, int32_t *last, type *lower,  \
                                          type *upper, step *stride);                              \
    API int __kmpc_dispatch_next_##suffix(source *at, int32_t thread, int32_t *last, type *lower,  \
                                          type *upper, step *stride)                               \
    {                                                                                              \
        int (*call)(source *, int32_t, int32_t *, type *, type *, step *) =                        \
            REAL(__kmpc_dispatch_next_##suffix, SITE, int,                                         \
                 (source *, int32_t, int32_t *, type *, type *, step *));                          \
        return SHARE(member_now(), SHARE_CHUNK, got != 0,                                          \
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
    return SHARE(member_now(), SHARE_SINGLE, got != 0, call ? call(at, thread) : 0);
}
