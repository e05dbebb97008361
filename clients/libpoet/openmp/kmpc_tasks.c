/* Tasks of programs compiled with clang. LLVM's runtime reports them itself (ompt_tool.c). In a
 * replayed run it does not get them: they are held (task_replay.h), and passed to it by the thread
 * whose turn it is, which runs them immediately, since they were created as undeferred tasks. They
 * remain children of their creator, so that the runtime's counts of children and groups are
 * right. */
#include "clients/libpoet/openmp/task_replay.h"
#include "clients/libpoet/openmp/omp_runtime.h"
#include "clients/libpoet/openmp/team.h"
#include "clients/libpoet/openmp/ompt_tool.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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
