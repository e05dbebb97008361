/* Loops, sections and single blocks of programs compiled with gcc. */
#include "clients/libpoet/openmp/gomp.h"
#include "clients/libpoet/openmp/worksharing.h"

#include <stdbool.h>
#include <stdint.h>

typedef unsigned long long ull;

#define P(...) (__VA_ARGS__)
#define CHUNK(name, parameters, given)                                                             \
    API bool name parameters;                                                                      \
    API bool name parameters                                                                       \
    {                                                                                              \
        bool(*call) parameters = REAL(name, SITE, bool, parameters);                               \
        return SHARE(gomp_current_member(SITE), WORKSHARING_CHUNK, got, call && call given);       \
    }
/* clang-format off */
#define START(name)                                                                                \
    CHUNK(GOMP_loop_##name##_start,                                                                \
          P(long begin, long end, long step, long chunk, long *from, long *to),                    \
          P(begin, end, step, chunk, from, to))                                                    \
    CHUNK(GOMP_loop_ull_##name##_start,                                                            \
          P(bool up, ull begin, ull end, ull step, ull chunk, ull *from, ull *to),                 \
          P(up, begin, end, step, chunk, from, to))
#define START_RUNTIME(name)                                                                        \
    CHUNK(GOMP_loop_##name##_start,                                                                \
          P(long begin, long end, long step, long *from, long *to),                                \
          P(begin, end, step, from, to))                                                           \
    CHUNK(GOMP_loop_ull_##name##_start,                                                            \
          P(bool up, ull begin, ull end, ull step, ull *from, ull *to),                            \
          P(up, begin, end, step, from, to))
#define START_ANY(name)                                                                            \
    CHUNK(GOMP_loop_##name,                                                                        \
          P(long begin, long end, long step, long how, long chunk, long *from, long *to,           \
            uintptr_t *reductions, void **memory),                                                 \
          P(begin, end, step, how, chunk, from, to, gomp_reduces(reductions), memory))             \
    CHUNK(GOMP_loop_ull_##name,                                                                    \
          P(bool up, ull begin, ull end, ull step, long how, ull chunk, ull *from, ull *to,        \
            uintptr_t *reductions, void **memory),                                                 \
          P(up, begin, end, step, how, chunk, from, to, gomp_reduces(reductions), memory))
#define NEXT(name)                                                                                 \
    CHUNK(GOMP_loop_##name##_next, P(long *from, long *to), P(from, to))                           \
    CHUNK(GOMP_loop_ull_##name##_next, P(ull *from, ull *to), P(from, to))
/* clang-format on */
/* In an ordered loop a thread waits for its turn in the order of iterations before it gets a chunk:
 * it waits first, since the call in between must not. */
#define ORDERED_NEXT(type, name)                                                                   \
    API bool name(type *from, type *to);                                                           \
    API bool name(type *from, type *to)                                                            \
    {                                                                                              \
        bool (*call)(type *, type *) = REAL(name, SITE, bool, (type *, type *));                   \
        struct team_member *m = gomp_current_member(SITE);                                         \
        gomp_worksharing_await_turn(m, SITE);                                                      \
        bool asked = worksharing_begin_ordered(m, SITE);                                           \
        bool got = call && call(from, to);                                                         \
        worksharing_end_ordered(m, asked);                                                         \
        return got;                                                                                \
    }
static void gomp_worksharing_await_turn(const struct team_member *m, const void *site)
{
    void (*turn)(void) = REAL(GOMP_ordered_start, site, void, (void));
    if (worksharing_is_recorded(m) && turn)
        turn();
}
START(dynamic)
START(guided)
START(nonmonotonic_dynamic)
START(nonmonotonic_guided)
START(ordered_dynamic)
START(ordered_guided)
START_RUNTIME(runtime)
START_RUNTIME(nonmonotonic_runtime)
START_RUNTIME(maybe_nonmonotonic_runtime)
START_RUNTIME(ordered_runtime)
START_ANY(start)
START_ANY(ordered_start)
NEXT(dynamic)
NEXT(guided)
NEXT(nonmonotonic_dynamic)
NEXT(nonmonotonic_guided)
NEXT(runtime)
NEXT(nonmonotonic_runtime)
NEXT(maybe_nonmonotonic_runtime)
ORDERED_NEXT(long, GOMP_loop_ordered_dynamic_next)
ORDERED_NEXT(long, GOMP_loop_ordered_guided_next)
ORDERED_NEXT(long, GOMP_loop_ordered_runtime_next)
ORDERED_NEXT(ull, GOMP_loop_ull_ordered_dynamic_next)
ORDERED_NEXT(ull, GOMP_loop_ull_ordered_guided_next)
ORDERED_NEXT(ull, GOMP_loop_ull_ordered_runtime_next)

#define SECTION(name, parameters, given)                                                           \
    API unsigned name parameters;                                                                  \
    API unsigned name parameters                                                                   \
    {                                                                                              \
        unsigned(*call) parameters = REAL(name, SITE, unsigned, parameters);                       \
        return SHARE(gomp_current_member(SITE), WORKSHARING_CHUNK, got != 0,                       \
                     call ? call given : 0);                                                       \
    }
SECTION(GOMP_sections_start, P(unsigned count), P(count))
SECTION(GOMP_sections2_start, P(unsigned count, uintptr_t *reductions, void **memory),
        P(count, gomp_reduces(reductions), memory))
SECTION(GOMP_sections_next, P(void), P())

API bool GOMP_single_start(void);
API bool GOMP_single_start(void)
{
    bool (*call)(void) = REAL(GOMP_single_start, SITE, bool, (void));
    return SHARE(gomp_current_member(SITE), WORKSHARING_SINGLE, got, call && call());
}
