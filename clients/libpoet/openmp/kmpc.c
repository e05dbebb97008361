/* Entry points of LLVM's runtime, for programs compiled with clang: those calls that OMPT does not
 * report sufficiently. */

#include "clients/libpoet/openmp/omp_runtime.h"
#include "clients/libpoet/openmp/ompt_tool.h"
#include "clients/libpoet/openmp/task_replay.h"
#include "clients/libpoet/openmp/team.h"
#include "clients/libpoet/openmp/worksharing.h"
#include "clients/libpoet/poet.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS_MOST 64
#define PASSED_MOST 256

typedef struct session source; /* a call site, as clang passes it */
typedef void outlined_region(int32_t *thread, int32_t *bound, ...);

/* The calling thread waits for it: it may be on its stack. */
struct kmpc_region {
    source *at;
    const void *site;
    outlined_region *function;
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
typedef void fork_call(source *, int32_t, outlined_region *, ...);
static void kmpc_pass_on(fork_call *call, source *at, int32_t count, outlined_region *function,
                         va_list ap)
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
API void __kmpc_fork_call(source *at, int32_t count, outlined_region *function, ...)
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

/* ---- dynamically scheduled loops and single blocks; sections are assigned statically ---- No call
 * waits for others: in an ordered loop its sections and the end of an iteration do. */

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

/* ---- tasks ----
 *
 * LLVM's runtime reports them itself (ompt_tool.c). In a replayed run it does not get them: they
 * are held (task_replay.h), and passed to it by the thread that has the turn, which runs them
 * immediately, since they were created as undeferred tasks. They remain children of their creator,
 * so that the runtime's counts of children and groups are right. */

typedef struct session source; /* a call site, as clang passes it */
typedef int32_t routine(int32_t thread, void *task);
struct of_runtime { /* first members of a task of the runtime */
    void *shared;
    routine *body;
};
typedef int32_t task_call(source *at, int32_t thread, struct of_runtime *task);

enum { TIED = 1, NOT_PUT_OFF = 4, PROXY = 0x10, DETACHED = 0x40 };

/* How the calling thread had the runtime create its last task, which it is about to pass to it. */
struct made {
    struct of_runtime *task; /* NULL: it must not be held */
    int32_t flags;
    size_t bytes, shared_bytes;
    routine *body;
};
static __thread struct made made __attribute__((tls_model("initial-exec")));

typedef struct of_runtime *make_call(source *at, int32_t thread, int32_t flags, size_t bytes,
                                     size_t shared_bytes, routine *body);
API make_call __kmpc_omp_task_alloc;
API struct of_runtime *__kmpc_omp_task_alloc(source *at, int32_t thread, int32_t flags,
                                             size_t bytes, size_t shared_bytes, routine *body)
{
    make_call *call =
        (make_call *)(uintptr_t)omp_runtime_function(REAL___kmpc_omp_task_alloc, SITE);
    bool simple = (flags & (TIED | PROXY | DETACHED)) == TIED;
    if (!call)
        return NULL;
    if (!simple)
        task_replay_release_team();
    bool holds = simple && task_replay_wanted() && !omp_runtime_in_final_task(SITE);
    if (holds)
        flags |= NOT_PUT_OFF;
    struct of_runtime *task = call(at, thread, flags, bytes, shared_bytes, body);
    made = (struct made){holds ? task : NULL, flags, bytes, shared_bytes, body};
    return task;
}

/* ---- held ---- */

struct held_here {
    struct held_task held;
    struct omp_task task; /* a copy: the tool's is gone once it has run */
    struct ompt_task_data *kept;
    source *at;
    struct of_runtime *given;
    task_call *call;
    int32_t (*number)(source *at);
};

static void kmpc_task_call_held(struct held_task *held)
{
    struct held_here *h = (struct held_here *)held;
    ompt_tool_hand_over(h->kept);
    h->call(h->at, h->number(h->at), h->given);
}

/* Holds a task that was recorded. Returns false if it must run right here. */
static bool kmpc_task_hold(struct ompt_task_data *kept, source *at, struct of_runtime *task,
                           const void *site)
{
    struct held_here *h = task_replay_is_next(ompt_tool_task(kept)) ? NULL : malloc(sizeof *h);
    if (!h)
        return false;
    *h = (struct held_here){
        .held = {.task = &h->task, .call = kmpc_task_call_held},
        .task = *ompt_tool_task(kept),
        .kept = kept,
        .at = at,
        .given = task,
        .call = (task_call *)(uintptr_t)omp_runtime_function(REAL___kmpc_omp_task, site),
        .number = REAL(__kmpc_global_thread_num, site, int32_t, (source *)),
    };
    task_replay_add(&h->held);
    return true;
}

/* ---- one task ---- */

struct depending {
    void *place;
    size_t bytes;
    uint8_t how; /* bits: it is read, written, written exclusively, in a set */
};
struct all_depending {
    int32_t count, more_count;
    const struct depending *list, *more;
};

static void kmpc_task_add_depends(struct omp_task *task, const struct depending *list,
                                  int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        ompt_tool_depends(task, list[i].place,
                          list[i].how & 3   ? list[i].how & 3
                          : list[i].how & 4 ? 4
                                            : 5);
}

static void kmpc_task_add_all_depends(struct omp_task *task, const struct all_depending *d)
{
    kmpc_task_add_depends(task, d->list, d->count);
    kmpc_task_add_depends(task, d->more, d->more_count);
}

/* For a task that the runtime is about to get, or that was waited for: waits until the held tasks
 * that it depends on have ended. */
static void kmpc_task_await_held(const struct all_depending *d)
{
    struct omp_task like = {0};
    if (!task_replay_is_needed())
        return;
    kmpc_task_add_all_depends(&like, d);
    task_replay_end_before(&like);
    free(like.before);
}

static struct ompt_task_data *kmpc_task_create(struct of_runtime *task,
                                               const struct all_depending *d, const void *site)
{
    struct ompt_task_data *kept = made.task == task ? ompt_tool_create_task(site) : NULL;
    made.task = NULL;
    if (kept)
        kmpc_task_add_all_depends(ompt_tool_task(kept), d);
    return kept;
}

API task_call __kmpc_omp_task;
API int32_t __kmpc_omp_task(source *at, int32_t thread, struct of_runtime *task)
{
    task_call *call = (task_call *)(uintptr_t)omp_runtime_function(REAL___kmpc_omp_task, SITE);
    struct ompt_task_data *kept = kmpc_task_create(task, &(struct all_depending){0}, SITE);
    if (!call || (kept && kmpc_task_hold(kept, at, task, SITE)))
        return 0;
    ompt_tool_hand_over(kept);
    ompt_tool_begin_task(SITE);
    int32_t result = call(at, thread, task);
    ompt_tool_begin_task(NULL);
    return result;
}

typedef int32_t task_with_call(source *at, int32_t thread, struct of_runtime *task, int32_t count,
                               const struct depending *list, int32_t more_count,
                               const struct depending *more);
API task_with_call __kmpc_omp_task_with_deps;
API int32_t __kmpc_omp_task_with_deps(source *at, int32_t thread, struct of_runtime *task,
                                      int32_t count, const struct depending *list,
                                      int32_t more_count, const struct depending *more)
{
    task_with_call *call =
        (task_with_call *)(uintptr_t)omp_runtime_function(REAL___kmpc_omp_task_with_deps, SITE);
    task_call *run = (task_call *)(uintptr_t)omp_runtime_function(REAL___kmpc_omp_task, SITE);
    struct all_depending d = {count, more_count, list, more};
    struct ompt_task_data *kept = run ? kmpc_task_create(task, &d, SITE) : NULL;
    if (kept && ompt_tool_task(kept)->doubtful)
        task_replay_release_team();
    else if (!call || (kept && kmpc_task_hold(kept, at, task, SITE)))
        return 0;
    if (kept)
        task_replay_await_before(ompt_tool_task(kept));
    else
        kmpc_task_await_held(&d);
    ompt_tool_hand_over(kept);
    ompt_tool_begin_task(SITE);
    int32_t result =
        kept ? run(at, thread, task) : call(at, thread, task, count, list, more_count, more);
    ompt_tool_begin_task(NULL);
    return result;
}

/* Called before an undeferred task, and taskwait with depend. The runtime reports that itself,
 * unless it is an old one. */
typedef void wait_call(source *at, int32_t thread, int32_t count, const struct depending *list,
                       int32_t more_count, const struct depending *more);
API wait_call __kmpc_omp_wait_deps;
API void __kmpc_omp_wait_deps(source *at, int32_t thread, int32_t count,
                              const struct depending *list, int32_t more_count,
                              const struct depending *more)
{
    wait_call *call = (wait_call *)(uintptr_t)omp_runtime_function(REAL___kmpc_omp_wait_deps, SITE);
    ompt_tool_begin_task(SITE);
    if (call)
        call(at, thread, count, list, more_count, more);
    ompt_tool_begin_task(NULL);
    kmpc_task_await_held(&(struct all_depending){count, more_count, list, more});
}

API int32_t __kmpc_omp_taskyield(source *at, int32_t thread, int end);
API int32_t __kmpc_omp_taskyield(source *at, int32_t thread, int end)
{
    int32_t (*call)(source *, int32_t, int) =
        REAL(__kmpc_omp_taskyield, SITE, int32_t, (source *, int32_t, int));
    task_replay_resume();
    return call ? call(at, thread, end) : 0;
}

/* ---- a loop of tasks ---- */

struct loop {
    source *at;
    const void *site;
    int32_t thread;
    struct made pattern; /* of which each task is a copy */
    uint64_t *first, *last; /* iterations, in the pattern */
    int64_t step;
    uint64_t count, tasks; /* number of iterations; of tasks for them */
    void (*copy)(void *to, const void *from, int32_t is_last);
};

/* Splits the loop as the runtime does. Returns false if it creates so many tasks that it has tasks
 * create them. */
static bool kmpc_task_split_loop(struct loop *l, int how, uint64_t amount)
{
    const struct team_member *m = member_current();
    uint64_t from = *l->first, to = *l->last, most = 10 * (uint64_t)atomic_load(&m->team->size);
    l->count =
        l->step > 0 ? (to - from) / (uint64_t)l->step + 1 : (from - to) / (uint64_t)-l->step + 1;
    uint64_t wanted = how == 0 ? most : how == 1 ? l->count / (amount ? amount : 1) : amount;
    l->tasks = wanted < 1 ? 1 : wanted < l->count ? wanted : l->count;
    return l->count > 0 && l->tasks <= (most < 256 ? most : 256);
}

static struct of_runtime *kmpc_task_copy_pattern(const struct loop *l, uint64_t from, uint64_t to,
                                                 bool is_last)
{
    make_call *create =
        (make_call *)(uintptr_t)omp_runtime_function(REAL___kmpc_omp_task_alloc, l->site);
    const struct made *p = &l->pattern;
    struct of_runtime *task =
        create(l->at, l->thread, p->flags, p->bytes, p->shared_bytes, p->body);
    void *shared = task->shared;
    memcpy(task, p->task, p->bytes);
    task->shared = shared;
    if (p->shared_bytes)
        memcpy(shared, p->task->shared, p->shared_bytes);
    memcpy((char *)task + ((char *)l->first - (char *)p->task), &from, sizeof from);
    memcpy((char *)task + ((char *)l->last - (char *)p->task), &to, sizeof to);
    if (l->copy)
        l->copy(task, p->task, is_last);
    return task;
}

static void kmpc_task_hold_part(const struct loop *l, struct of_runtime *task)
{
    task_call *call = (task_call *)(uintptr_t)omp_runtime_function(REAL___kmpc_omp_task, l->site);
    struct ompt_task_data *kept = ompt_tool_create_task(l->site);
    if (kept && kmpc_task_hold(kept, l->at, task, l->site))
        return;
    ompt_tool_hand_over(kept);
    call(l->at, l->thread, task);
}

static int32_t kmpc_task_empty_body(int32_t thread, void *task) { return 0; }

/* The runtime is done with the pattern: it considers it as run. */
static void kmpc_task_drop_pattern(const struct loop *l)
{
    task_call *call = (task_call *)(uintptr_t)omp_runtime_function(REAL___kmpc_omp_task, l->site);
    l->pattern.task->body = kmpc_task_empty_body;
    ompt_tool_hide_task();
    call(l->at, l->thread, l->pattern.task);
}

static void kmpc_task_hold_parts(const struct loop *l)
{
    uint64_t each = l->count / l->tasks, larger = l->count % l->tasks, from = *l->first;
    for (uint64_t i = 0; i < l->tasks; i++) {
        uint64_t size = each + (i < larger), to = from + (size - 1) * (uint64_t)l->step;
        kmpc_task_hold_part(l, kmpc_task_copy_pattern(l, from, to, i + 1 == l->tasks));
        from = to + (uint64_t)l->step;
    }
    kmpc_task_drop_pattern(l);
}

/* In a group of its own, unless it has none. */
static void kmpc_task_hold_loop(const struct loop *l, int no_group)
{
    void (*begin)(source *, int32_t) = REAL(__kmpc_taskgroup, l->site, void, (source *, int32_t));
    void (*end)(source *, int32_t) = REAL(__kmpc_end_taskgroup, l->site, void, (source *, int32_t));
    if (!no_group)
        begin(l->at, l->thread);
    kmpc_task_hold_parts(l);
    if (!no_group)
        end(l->at, l->thread);
}

typedef void loop_call(source *at, int32_t thread, struct of_runtime *pattern, int deferred,
                       uint64_t *first, uint64_t *last, int64_t step, int no_group, int how,
                       uint64_t amount, void *copy);
API loop_call __kmpc_taskloop;
API void __kmpc_taskloop(source *at, int32_t thread, struct of_runtime *pattern, int deferred,
                         uint64_t *first, uint64_t *last, int64_t step, int no_group, int how,
                         uint64_t amount, void *copy)
{
    loop_call *call = (loop_call *)(uintptr_t)omp_runtime_function(REAL___kmpc_taskloop, SITE);
    struct loop l = {.at = at,
                     .site = SITE,
                     .thread = thread,
                     .pattern = made,
                     .first = first,
                     .last = last,
                     .step = step,
                     .copy = (void (*)(void *, const void *, int32_t))(uintptr_t)copy};
    bool holds = made.task == pattern && deferred && task_replay_wanted();
    made.task = NULL;
    if (holds && kmpc_task_split_loop(&l, how, amount)) {
        kmpc_task_hold_loop(&l, no_group);
        return;
    }
    if (holds)
        task_replay_release_team();
    const void *before = ompt_tool_begin_loop(SITE);
    if (call)
        call(at, thread, pattern, deferred, first, last, step, no_group, how, amount, copy);
    ompt_tool_begin_loop(before);
}
