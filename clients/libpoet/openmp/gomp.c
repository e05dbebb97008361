#include "clients/libpoet/openmp/gomp.h"

#include "clients/libpoet/openmp/worksharing.h"
#include "clients/libpoet/poet.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- parallel regions ---- Each form of the call runs a function in every
 * member of a team; it is replaced by one that calls it. */

struct gomp_region {
    void *reductions; /* of tasks: must be first, where libgomp looks for it */
    struct team team;
    void (*body)(void *);
    void *data;
    const void *site;
};

static void gomp_parallel_wait_for_members(const void *site)
{
    void (*barrier)(void) = REAL(GOMP_barrier, site, void, (void));
    task_replay_await_team();
    barrier();
}

/* Runs in each member. */
static void gomp_parallel_run_member(void *data)
{
    struct gomp_region *r = data;
    struct team_member m;
    int (*size)(void) = REAL(omp_get_num_threads, r->site, int, (void));
    int (*number)(void) = REAL(omp_get_thread_num, r->site, int, (void));
    member_begin(&m, &r->team, (uint32_t)size(), (uint32_t)number());
    r->body(r->data);
    member_over(&m, gomp_parallel_wait_for_members, r->site);
    member_end(&m);
}

static bool gomp_parallel_can_trace(const void *site)
{
    return omp_runtime_function(REAL_GOMP_barrier, site) &&
           omp_runtime_function(REAL_omp_get_num_threads, site) &&
           omp_runtime_function(REAL_omp_get_thread_num, site) && !omp_runtime_is_llvm(site);
}

static void gomp_parallel_begin(struct gomp_region *r, void (*body)(void *), void *data,
                                const void *site)
{
    int (*cancellation)(void) = REAL(omp_get_cancellation, site, int, (void));
    *r = (struct gomp_region){.body = body, .data = data, .site = site};
    team_begin(&r->team, (const void *)(uintptr_t)body, cancellation && cancellation(), site);
}

/* Reductions by tasks, which are left to the runtime then (task_replay.h). */
static void *gomp_parallel_reductions(struct team *team, void *data)
{
    atomic_store(&team->apart, true);
    return *(void **)data;
}

/* If no runtime can be found, the region has one member. */
#define PARALLEL(type, name, first, before, parameters, given, after)                              \
    API type name(void (*body)(void *), void *data, unsigned threads PARAMETERS parameters);       \
    API type name(void (*body)(void *), void *data, unsigned threads PARAMETERS parameters)        \
    {                                                                                              \
        type (*call)(void (*)(void *), void *, unsigned PARAMETERS parameters) =                   \
            (type(*)(void (*)(void *), void *, unsigned PARAMETERS parameters))(                   \
                uintptr_t)omp_runtime_function(REAL_##name, SITE);                                 \
        struct gomp_region r;                                                                      \
        if (!call || !gomp_parallel_can_trace(SITE))                                               \
            return call ? call(body, data, threads GIVEN given) : (type)(body(data), 0);           \
        gomp_parallel_begin(&r, body, data, SITE);                                                 \
        r.reductions = first;                                                                      \
        before call(gomp_parallel_run_member, &r, threads GIVEN given);                            \
        team_end(&r.team, SITE);                                                                   \
        after;                                                                                     \
    }
#define PARAMETERS(...) , ##__VA_ARGS__
#define GIVEN(...) , ##__VA_ARGS__

PARALLEL(void, GOMP_parallel, NULL, , (unsigned flags), (flags), )
PARALLEL(unsigned, GOMP_parallel_reductions, gomp_parallel_reductions(&r.team, data),
         unsigned result =, (unsigned flags), (flags), return result)
PARALLEL(void, GOMP_parallel_sections, NULL, , (unsigned count, unsigned flags), (count, flags), )

#define LOOP(name)                                                                                 \
    PARALLEL(void, GOMP_parallel_loop_##name, NULL, ,                                              \
             (long start, long end, long step, long chunk, unsigned flags),                        \
             (start, end, step, chunk, flags), )
#define LOOP_AT_RUNTIME(name)                                                                      \
    PARALLEL(void, GOMP_parallel_loop_##name, NULL, ,                                              \
             (long start, long end, long step, unsigned flags), (start, end, step, flags), )
LOOP(static)
LOOP(dynamic)
LOOP(guided)
LOOP(nonmonotonic_dynamic)
LOOP(nonmonotonic_guided)
LOOP_AT_RUNTIME(runtime)
LOOP_AT_RUNTIME(nonmonotonic_runtime)
LOOP_AT_RUNTIME(maybe_nonmonotonic_runtime)

/* The beginning of a region with compilers before gcc 4.9: the rest of it is not interposed. */
API void GOMP_parallel_start(void (*body)(void *), void *data, unsigned threads);
API void GOMP_parallel_start(void (*body)(void *), void *data, unsigned threads)
{
    void (*call)(void (*)(void *), void *, unsigned) =
        REAL(GOMP_parallel_start, SITE, void, (void (*)(void *), void *, unsigned));
    poet_untraced("parallel regions compiled by gcc before 4.9 (OpenMP)");
    if (call)
        call(body, data, threads);
}

/* ---- barriers: calls in which all members of a team wait for each other ---- */

/* Called right before such a call, and right after it. */
static void gomp_barrier_arrive(struct team_member *m, const void *site)
{
    if (!m)
        return;
    team_barrier_arrive(m, site);
    task_replay_await_team();
}

static void gomp_barrier_pass(struct team_member *m, bool cancelled, const void *site)
{
    if (!m)
        return;
    team_barrier_pass(m, cancelled, site);
    task_replay_resume();
}

/* Defines a call in which all members wait for all. */
#define BARRIER(name, ends_loop)                                                                   \
    API void name(void);                                                                           \
    API void name(void)                                                                            \
    {                                                                                              \
        void (*call)(void) = REAL(name, SITE, void, (void));                                       \
        struct team_member *m = gomp_current_member(SITE);                                         \
        gomp_barrier_arrive(m, SITE);                                                              \
        if (call)                                                                                  \
            call();                                                                                \
        gomp_barrier_pass(m, false, SITE);                                                         \
        if (m)                                                                                     \
            m->loops += ends_loop;                                                                 \
    }
BARRIER(GOMP_barrier, 0)
BARRIER(GOMP_loop_end, 1)
BARRIER(GOMP_sections_end, 0)

/* Defines one that members leave early if the region, or the construct, is cancelled. */
#define BARRIER_CANCEL(name, ends_loop)                                                            \
    API bool name(void);                                                                           \
    API bool name(void)                                                                            \
    {                                                                                              \
        bool (*call)(void) = REAL(name, SITE, bool, (void));                                       \
        struct team_member *m = gomp_current_member(SITE);                                         \
        gomp_barrier_arrive(m, SITE);                                                              \
        bool cancelled = call && call();                                                           \
        gomp_barrier_pass(m, cancelled, SITE);                                                     \
        if (m)                                                                                     \
            m->loops += ends_loop;                                                                 \
        return cancelled;                                                                          \
    }
BARRIER_CANCEL(GOMP_barrier_cancel, 0)
BARRIER_CANCEL(GOMP_loop_end_cancel, 1)
BARRIER_CANCEL(GOMP_sections_end_cancel, 0)

/* Not a barrier: but loops are identified by how many there were before. */
API void GOMP_loop_end_nowait(void);
API void GOMP_loop_end_nowait(void)
{
    void (*call)(void) = REAL(GOMP_loop_end_nowait, SITE, void, (void));
    struct team_member *m = gomp_current_member(SITE);
    if (call)
        call();
    if (m)
        m->loops++;
}

/* The end of a construct with reductions by tasks. */
API void GOMP_workshare_task_reduction_unregister(bool cancelled);
API void GOMP_workshare_task_reduction_unregister(bool cancelled)
{
    void (*call)(bool) = REAL(GOMP_workshare_task_reduction_unregister, SITE, void, (bool));
    struct team_member *m = cancelled ? NULL : gomp_current_member(SITE);
    gomp_barrier_arrive(m, SITE);
    if (call)
        call(cancelled);
    gomp_barrier_pass(m, false, SITE);
}

/* single with copyprivate: the chosen member gets NULL at once, and waits for the others when it
 * passes the data; the others wait for it here. */
static bool gomp_barrier_is_first(struct team_member *m)
{
    bool first = m->copies++ == m->team->copies;
    m->team->copies += first;
    return first;
}

API void *GOMP_single_copy_start(void);
API void *GOMP_single_copy_start(void)
{
    void *(*call)(void) = REAL(GOMP_single_copy_start, SITE, void *, (void));
    struct team_member *m = gomp_current_member(SITE);
    bool waits = m && !m->team->cancellable, asked = worksharing_begin(m, WORKSHARING_SINGLE);
    if (asked && gomp_barrier_is_first(m)) { /* (the call does not wait for them) */
        void *none = call ? call() : NULL;
        worksharing_end(m, true, WORKSHARING_SINGLE, true, SITE);
        return none;
    }
    worksharing_end(m, asked, WORKSHARING_SINGLE, false, SITE);
    if (waits)
        gomp_barrier_arrive(m, SITE);
    void *copied = call ? call() : NULL;
    if (waits && copied)
        gomp_barrier_pass(m, false, SITE);
    else if (waits)
        team_barrier_retry(m, SITE);
    else if (m)
        event_record(EVENT_through, m->team->line, POET_DOUBT_THREAD, SITE);
    return copied;
}

API void GOMP_single_copy_end(void *data);
API void GOMP_single_copy_end(void *data)
{
    void (*call)(void *) = REAL(GOMP_single_copy_end, SITE, void, (void *));
    struct team_member *m = gomp_current_member(SITE);
    bool waits = m && !m->team->cancellable;
    if (waits)
        gomp_barrier_arrive(m, SITE);
    if (call)
        call(data);
    if (waits)
        gomp_barrier_pass(m, false, SITE);
    else if (m)
        event_record(EVENT_through, m->team->line, POET_DOUBT_THREAD, SITE);
}

/* ---- cancellation ---- */

static bool gomp_barrier_record_stopped(bool is, const void *site)
{
    struct team_member *m = gomp_current_member(site);
    if (m && is)
        event_record(EVENT_stopped, m->team->line, POET_DOUBT_THREAD, site);
    return is;
}

API bool GOMP_cancel(int what, bool wanted);
API bool GOMP_cancel(int what, bool wanted)
{
    bool (*call)(int, bool) = REAL(GOMP_cancel, SITE, bool, (int, bool));
    struct team_member *m = gomp_current_member(SITE);
    if (m && wanted && m->team->cancellable)
        event_record(EVENT_stop, m->team->line, 0, SITE);
    return gomp_barrier_record_stopped(call && call(what, wanted), SITE);
}

API bool GOMP_cancellation_point(int what);
API bool GOMP_cancellation_point(int what)
{
    bool (*call)(int) = REAL(GOMP_cancellation_point, SITE, bool, (int));
    return gomp_barrier_record_stopped(call && call(what), SITE);
}

/* ---- loops, sections and single blocks ---- */

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

/* ---- ordered loops ---- */

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

/* Loops ordered by depend(sink) and depend(source): that a wait depends on iterations is recorded,
 * but not on which. The wait takes as many numbers as the loop that it is in has dimensions. */

#define DIMENSIONS_MOST 16u
static __thread unsigned dimensions __attribute__((tls_model("initial-exec")));

#define DOACROSS(name, parameters, given)                                                          \
    API bool name(unsigned count, long *counts, UNPACK parameters);                                \
    API bool name(unsigned count, long *counts, UNPACK parameters)                                 \
    {                                                                                              \
        bool (*call)(unsigned, long *, UNPACK parameters) =                                        \
            REAL(name, SITE, bool, (unsigned, long *, UNPACK parameters));                         \
        dimensions = count;                                                                        \
        return SHARE(gomp_current_member(SITE), WORKSHARING_CHUNK, got,                            \
                     call && call(count, counts, UNPACK given));                                   \
    }
#define UNPACK(...) __VA_ARGS__
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
