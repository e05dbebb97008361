/* Parallel regions of programs compiled with gcc. Each form of the call runs a function in every
 * member of a team; it is replaced by one that calls it. */
#include "clients/libpoet/openmp/gomp.h"

#include "clients/libpoet/poet.h"

#include <stddef.h>

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
