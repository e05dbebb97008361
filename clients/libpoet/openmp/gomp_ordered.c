/* Ordered loops of programs compiled with gcc. */
#include "clients/libpoet/openmp/gomp.h"
#include "clients/libpoet/openmp/ordered_sections.h"
#include "clients/libpoet/openmp/worksharing.h"

#include <stdarg.h>
#include <stddef.h>

API void GOMP_ordered_start(void);
API void GOMP_ordered_start(void)
{
    void (*call)(void) = REAL(GOMP_ordered_start, SITE, void, (void));
    struct team_member *m = gomp_current_member(SITE);
    if (m)
        ordered_section_request(m, SITE);
    if (call)
        call();
    if (m)
        ordered_section_begin(m, SITE);
}

API void GOMP_ordered_end(void);
API void GOMP_ordered_end(void)
{
    void (*call)(void) = REAL(GOMP_ordered_end, SITE, void, (void));
    struct team_member *m = gomp_current_member(SITE);
    if (m)
        ordered_section_end(m, SITE);
    if (call)
        call();
}

/* ---- ordered by depend(sink) and depend(source): that a wait depends on iterations is recorded,
 * but not on which ---- The wait takes as many numbers as the loop that it is in has dimensions. */

#define DIMENSIONS_MOST 16u
static __thread unsigned dimensions __attribute__((tls_model("initial-exec")));

#define DOACROSS(name, parameters, given)                                                          \
    API bool name(unsigned count, long *counts, PARAMETERS parameters);                            \
    API bool name(unsigned count, long *counts, PARAMETERS parameters)                             \
    {                                                                                              \
        bool (*call)(unsigned, long *, PARAMETERS parameters) =                                    \
            REAL(name, SITE, bool, (unsigned, long *, PARAMETERS parameters));                     \
        dimensions = count;                                                                        \
        return SHARE(gomp_current_member(SITE), WORKSHARING_CHUNK, got,                            \
                     call && call(count, counts, GIVEN given));                                    \
    }
#define PARAMETERS(...) __VA_ARGS__
#define GIVEN(...) __VA_ARGS__
DOACROSS(GOMP_loop_doacross_static_start, (long chunk, long *start, long *end), (chunk, start, end))
DOACROSS(GOMP_loop_doacross_dynamic_start, (long chunk, long *start, long *end),
         (chunk, start, end))
DOACROSS(GOMP_loop_doacross_guided_start, (long chunk, long *start, long *end), (chunk, start, end))
DOACROSS(GOMP_loop_doacross_runtime_start, (long *start, long *end), (start, end))
DOACROSS(GOMP_loop_doacross_start,
         (long how, long chunk, long *start, long *end, uintptr_t *reductions, void **memory),
         (how, chunk, start, end, gomp_reduces(reductions), memory))

API void GOMP_doacross_wait(long first, ...);
API void GOMP_doacross_wait(long first, ...)
{
    void (*call)(long, ...) = REAL(GOMP_doacross_wait, SITE, void, (long, ...));
    struct team_member *m = gomp_current_member(SITE);
    long n[DIMENSIONS_MOST] = {first};
    va_list ap;
    va_start(ap, first);
    for (unsigned i = 1; i < dimensions && i < DIMENSIONS_MOST; i++)
        n[i] = va_arg(ap, long);
    va_end(ap);
    if (call)
        call(n[0], n[1], n[2], n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10], n[11], n[12], n[13],
             n[14], n[15]);
    if (m)
        event_record(EVENT_sink, m->team->line, POET_DOUBT_THREAD, SITE);
}
