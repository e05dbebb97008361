/* Entry points of LLVM's runtime, for programs compiled with clang: those calls that OMPT does not
 * report sufficiently. */
#include "clients/libpoet/openmp/task_replay.h"
#include "clients/libpoet/openmp/ordered_sections.h"
#include "clients/libpoet/openmp/omp_runtime.h"
#include "clients/libpoet/openmp/team.h"
#include "clients/libpoet/openmp/ompt_tool.h"
#include "clients/libpoet/poet.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define ARGUMENTS_MOST 64
#define PASSED_MOST 256

typedef struct session source; /* a call site, as clang passes it */
typedef void body(int32_t *thread, int32_t *bound, ...);

/* The calling thread waits for it: it may be on its stack. */
struct kmpc_region {
    source *at;
    const void *site;
    body *function;
    int count;
    void *arguments[ARGUMENTS_MOST];
};

struct kmpc_waiting {
    const struct kmpc_region *region;
    int32_t thread;
};

static void kmpc_wait_for_members(const void *context)
{
    const struct kmpc_waiting *w = context;
    void (*call)(source *, int32_t) =
        REAL(__kmpc_barrier, w->region->site, void, (source *, int32_t));
    task_replay_await_team();
    if (call)
        call(w->region->at, w->thread);
}

/* A function uses those arguments that it needs. */
#define FOUR(a, i) a[i], a[i + 1], a[i + 2], a[i + 3]
#define SIXTEEN(a, i) FOUR(a, i), FOUR(a, i + 4), FOUR(a, i + 8), FOUR(a, i + 12)
#define SIXTY_FOUR(a, i) SIXTEEN(a, i), SIXTEEN(a, i + 16), SIXTEEN(a, i + 32), SIXTEEN(a, i + 48)
static void kmpc_call_body(const struct kmpc_region *r, int32_t *thread, int32_t *bound)
{
    void *const *a = r->arguments;
    if (r->count <= 4)
        r->function(thread, bound, FOUR(a, 0));
    else if (r->count <= 16)
        r->function(thread, bound, SIXTEEN(a, 0));
    else
        r->function(thread, bound, SIXTY_FOUR(a, 0));
}

/* Runs in each member. Not in nested teams: a barrier right before their end may hang in this
 * runtime (LLVM 14) when there are many threads; there the members' ends are recorded as
 * messages. */
static void kmpc_run_member(int32_t *thread, int32_t *bound, ...)
{
    va_list ap;
    va_start(ap, bound);
    const struct kmpc_region *r = va_arg(ap, struct kmpc_region *);
    va_end(ap);
    struct kmpc_waiting w = {r, *thread};
    kmpc_call_body(r, thread, bound);
    struct team_member *m = member_current();
    if (m && m->team->body == (const void *)(uintptr_t)r->function)
        member_over(m, m->team->nested ? NULL : kmpc_wait_for_members, &w);
    if (m && m->team->nested)
        task_replay_await_team();
}

/* With so many variables the function is left unchanged: the members' ends are recorded as
 * messages. */
typedef void fork_call(source *, int32_t, body *, ...);
static void kmpc_pass_on(fork_call *call, source *at, int32_t count, body *function, va_list ap)
{
    void **a = calloc(PASSED_MOST, sizeof *a);
    for (int i = 0; a && i < count && i < PASSED_MOST; i++)
        a[i] = va_arg(ap, void *);
    if (a)
        call(at, count, function, SIXTY_FOUR(a, 0), SIXTY_FOUR(a, 64), SIXTY_FOUR(a, 128),
             SIXTY_FOUR(a, 192));
    free(a);
}

API fork_call __kmpc_fork_call;
API void __kmpc_fork_call(source *at, int32_t count, body *function, ...)
{
    fork_call *call = (fork_call *)(uintptr_t)omp_runtime_function(REAL___kmpc_fork_call, SITE);
    struct kmpc_region r = {.at = at, .site = SITE, .function = function, .count = count};
    va_list ap;
    va_start(ap, function);
    if (call && count > ARGUMENTS_MOST)
        kmpc_pass_on(call, at, count, function, ap);
    for (int i = 0; i < count && count <= ARGUMENTS_MOST; i++)
        r.arguments[i] = va_arg(ap, void *);
    va_end(ap);
    if (!call || count > ARGUMENTS_MOST)
        return;
    ompt_tool_begin_region(SITE, (const void *)(uintptr_t)function);
    call(at, 1, kmpc_run_member, &r);
    ompt_tool_begin_region(NULL, NULL);
    if (!ompt_tool_is_active())
        poet_untraced("OpenMP (LLVM runtime: another OMPT tool is loaded, or OMPT is disabled)");
}

/* ---- ordered loops ---- */

API void __kmpc_ordered(source *at, int32_t thread);
API void __kmpc_ordered(source *at, int32_t thread)
{
    void (*call)(source *, int32_t) = REAL(__kmpc_ordered, SITE, void, (source *, int32_t));
    struct team_member *m = member_current();
    if (m)
        ordered_section_request(m, SITE);
    if (call)
        call(at, thread);
    if (m)
        ordered_section_begin(m, SITE);
}

API void __kmpc_end_ordered(source *at, int32_t thread);
API void __kmpc_end_ordered(source *at, int32_t thread)
{
    void (*call)(source *, int32_t) = REAL(__kmpc_end_ordered, SITE, void, (source *, int32_t));
    struct team_member *m = member_current();
    if (m)
        ordered_section_end(m, SITE);
    if (call)
        call(at, thread);
}

API void __kmpc_doacross_wait(source *at, int32_t thread, const int64_t *iteration);
API void __kmpc_doacross_wait(source *at, int32_t thread, const int64_t *iteration)
{
    void (*call)(source *, int32_t, const int64_t *) =
        REAL(__kmpc_doacross_wait, SITE, void, (source *, int32_t, const int64_t *));
    struct team_member *m = member_current();
    if (call)
        call(at, thread, iteration);
    if (m)
        event_record(EVENT_sink, m->team->line, POET_DOUBT_THREAD, SITE);
}
