/* OMPT tool: what LLVM's runtime reports of regions, barriers and tasks. */
#define _GNU_SOURCE
#include "clients/libpoet/openmp/ompt_tool.h"

#include "clients/libpoet/next_symbol.h"
#include "clients/libpoet/openmp/omp_runtime.h"
#include "clients/libpoet/openmp/omp_tasks.h"
#include "clients/libpoet/openmp/task_replay.h"
#include "clients/libpoet/openmp/team.h"
#include "clients/libpoet/poet.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- the part of the tools interface that is needed here ----
 *
 * OpenMP 5.0, chapter 4, with the names and numbers of omp-tools.h, which is missing on some
 * machines that have a runtime. */

typedef union {
    uint64_t value;
    void *ptr;
} ompt_data_t;

typedef void (*ompt_interface_fn_t)(void);
typedef ompt_interface_fn_t (*ompt_function_lookup_t)(const char *name);
typedef int (*ompt_set_callback_t)(int which, ompt_interface_fn_t callback);
typedef struct {
    int (*initialize)(ompt_function_lookup_t lookup, int device, ompt_data_t *tool);
    void (*finalize)(ompt_data_t *tool);
    ompt_data_t tool_data;
} ompt_start_tool_result_t;

typedef struct {
    ompt_data_t variable;
    int dependence_type;
} ompt_dependence_t;

enum { ompt_scope_begin = 1, ompt_scope_end = 2 };
enum { /* callbacks */
       ompt_callback_parallel_begin = 3,
       ompt_callback_parallel_end = 4,
       ompt_callback_task_create = 5,
       ompt_callback_task_schedule = 6,
       ompt_callback_implicit_task = 7,
       ompt_callback_sync_region_wait = 16,
       ompt_callback_dependences = 18,
       ompt_callback_work = 20,
       ompt_callback_sync_region = 23,
       ompt_callback_cancel = 30
};

enum { /* kinds of sync regions; all others are barriers */
       ompt_sync_region_taskwait = 5,
       ompt_sync_region_taskgroup = 6,
       ompt_sync_region_reduction = 7,
       ompt_sync_region_barrier_implicit_parallel = 9,
       ompt_sync_region_barrier_teams = 10
};

enum { ompt_work_loop = 1 };
enum { ompt_task_initial = 1, ompt_task_taskwait = 0x10 };
enum { ompt_dependence_type_in = 1, ompt_dependence_type_mutexinoutset = 4 };
enum { ompt_cancel_activated = 0x10, ompt_cancel_detected = 0x20 };
enum { /* reasons for a task switch */
       ompt_task_complete = 1,
       ompt_task_yield = 2,
       ompt_task_cancel = 3,
       ompt_task_detach = 4,
       ompt_task_early_fulfill = 5,
       ompt_task_late_fulfill = 6,
       ompt_task_switch = 7,
       ompt_taskwait_complete = 8
};

static _Atomic bool ompt_tool_active;
static bool cancellable; /* regions can be cancelled */
static __thread struct {
    const void *site, *body;
} forks __attribute__((tls_model("initial-exec")));

static __thread struct {
    const void *site, *loop;
    struct ompt_task_data *handed;
    bool hidden;
} creates __attribute__((tls_model("initial-exec")));

bool ompt_tool_is_active(void)
{
    return atomic_load_explicit(&ompt_tool_active, memory_order_relaxed);
}

void ompt_tool_begin_region(const void *site, const void *body)
{
    forks.site = site;
    forks.body = body;
}

/* Data that the runtime keeps for the tool with each task: a member's, or an explicit one's. */
struct ompt_task_data {
    bool explicit;
    union {
        struct team_member member;
        struct {
            struct omp_task task;
            struct task_frame frame, *outer;
            const void *site;
            bool runs, waits; /* it waits for others as if it depended on them, and does nothing */
        } own;
    };
};

static const void *ompt_tool_site(const void *return_address)
{
    const struct team_member *m = member_current();
    return return_address ? (const char *)return_address - 1 : m && m->team ? m->team->body : NULL;
}

/* ---- regions ---- */

static void parallel_begin(ompt_data_t *task, const void *frame, ompt_data_t *parallel,
                           unsigned wanted, int flags, const void *return_address)
{
    const void *site = forks.site ? forks.site : ompt_tool_site(return_address);
    struct team *t = malloc(sizeof *t);
    parallel->ptr = t;
    if (t)
        team_begin(t, forks.body ? forks.body : site, cancellable, site);
    ompt_tool_begin_region(NULL, NULL);
}

static void parallel_end(ompt_data_t *parallel, ompt_data_t *task, int flags,
                         const void *return_address)
{
    struct team *t = parallel->ptr;
    if (!t)
        return;
    team_end(t, t->site);
    parallel->ptr = NULL;
    free(t);
}

static void implicit_task(int end, ompt_data_t *parallel, ompt_data_t *task, unsigned size,
                          unsigned number, int flags)
{
    struct ompt_task_data *k = end == ompt_scope_end ? task->ptr : NULL;
    if (end == ompt_scope_end && k) {
        member_end(&k->member);
        free(k);
        task->ptr = NULL;
    }
    if (end != ompt_scope_begin || flags & ompt_task_initial || !parallel || !parallel->ptr)
        return;
    k = calloc(1, sizeof *k);
    task->ptr = k;
    if (k)
        member_begin(&k->member, parallel->ptr, size, number);
}

/* ---- barriers, and waiting for tasks ---- */

static void ompt_tool_barrier(int kind, int end, const void *site)
{
    struct team_member *m = member_current();
    if (!m || m->over) /* it has already synchronized with the others at the end */
        return;
    if (kind >= ompt_sync_region_barrier_implicit_parallel && end == ompt_scope_begin)
        member_over(m, NULL, NULL);
    else if (end == ompt_scope_begin)
        team_barrier_arrive(m, site);
    else
        team_barrier_pass(m, false, site);
    if (end == ompt_scope_begin)
        task_replay_await_team();
    else
        task_replay_resume();
}

static void sync_region(int kind, int end, ompt_data_t *parallel, ompt_data_t *task,
                        const void *return_address)
{
    const void *site = ompt_tool_site(return_address);
    if (kind == ompt_sync_region_taskwait && end == ompt_scope_begin) {
        if (taskwait_begin(site))
            task_replay_await_children();
    } else if (kind == ompt_sync_region_taskwait && task_frame_is_waiting(EVENT_taskwait))
        taskwait_end(site);
    else if (kind == ompt_sync_region_taskgroup && end == ompt_scope_begin)
        taskgroup_begin();
    else if (kind == ompt_sync_region_taskgroup)
        taskgroup_end(task_frame_is_waiting(EVENT_taskgroup), site);
    else if (kind != ompt_sync_region_taskwait && kind != ompt_sync_region_reduction)
        ompt_tool_barrier(kind, end, site);
}

static void sync_region_wait(int kind, int end, ompt_data_t *parallel, ompt_data_t *task,
                             const void *return_address)
{
    if (kind == ompt_sync_region_taskgroup && end == ompt_scope_begin &&
        taskgroup_waits(false, ompt_tool_site(return_address)))
        task_replay_await_group();
}

static void work(int kind, int end, ompt_data_t *parallel, ompt_data_t *task, uint64_t count,
                 const void *return_address)
{
    struct team_member *m = member_current();
    if (m && kind == ompt_work_loop && end == ompt_scope_end)
        m->loops++;
}

static void cancel(ompt_data_t *task, int flags, const void *return_address)
{
    struct team_member *m = member_current();
    if (m && flags & ompt_cancel_activated)
        event_record(EVENT_stop, m->team->line, 0, ompt_tool_site(return_address));
    else if (m && flags & ompt_cancel_detected)
        event_record(EVENT_stopped, m->team->line, POET_DOUBT_THREAD,
                     ompt_tool_site(return_address));
}

/* ---- tasks ---- */

void ompt_tool_begin_task(const void *site)
{
    if (!site || !creates.site)
        creates.site = site;
}

const void *ompt_tool_begin_loop(const void *site)
{
    const void *before = creates.loop;
    creates.loop = site;
    return before;
}

struct omp_task *ompt_tool_task(struct ompt_task_data *kept) { return &kept->own.task; }

void ompt_tool_hand_over(struct ompt_task_data *kept) { creates.handed = kept; }

void ompt_tool_hide_task(void) { creates.hidden = true; }

static struct ompt_task_data *ompt_tool_new_task(const void *site)
{
    struct ompt_task_data *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    k->explicit = true;
    k->own.site = site;
    return k;
}

static void ompt_tool_create(struct ompt_task_data *k)
{
    omp_task_make(&k->own.task, false);
    omp_task_spawn(&k->own.task, k->own.site);
}

struct ompt_task_data *ompt_tool_create_task(const void *site)
{
    struct ompt_task_data *k = ompt_tool_new_task(site);
    if (k)
        ompt_tool_create(k);
    return k;
}

static void task_create(ompt_data_t *maker, const void *frame, ompt_data_t *task, int flags,
                        int depends, const void *return_address)
{
    const void *site = creates.site   ? creates.site
                       : creates.loop ? creates.loop
                                      : ompt_tool_site(return_address);
    struct ompt_task_data *k = creates.handed;
    bool known = k || creates.hidden || flags & ompt_task_initial;
    creates.site = NULL;
    creates.handed = NULL;
    creates.hidden = false;
    task->ptr = k = known ? k : ompt_tool_new_task(site);
    if (known || !k)
        return;
    k->own.waits = flags & ompt_task_taskwait;
    if (k->own.waits && taskwait_like(&k->own.task))
        taskwait_for_begin(k->own.site);
    else if (!k->own.waits)
        ompt_tool_create(k);
}

void ompt_tool_depends(struct omp_task *task, const void *place, int how)
{
    omp_task_depends(task, place,
                     how == ompt_dependence_type_in             ? DEPEND_READS
                     : how < ompt_dependence_type_mutexinoutset ? DEPEND_WRITES
                                                                : DEPEND_IN_SET,
                     how == ompt_dependence_type_mutexinoutset);
}

static void dependences(ompt_data_t *task, const ompt_dependence_t *list, int count)
{
    struct ompt_task_data *k = task->ptr;
    for (int i = 0; k && k->explicit && i < count; i++)
        ompt_tool_depends(&k->own.task, list[i].variable.ptr, list[i].dependence_type);
    if (k && k->explicit && k->own.waits)
        task_replay_await_before(&k->own.task);
}

/* It has ended, or was dropped before it began. */
static void ompt_tool_end_task(struct ompt_task_data *k, int how)
{
    /* over when the program fulfills its event */
    if (how == ompt_task_detach)
        omp_tasks_set_untraced();
    if (k->own.waits && task_frame_is_waiting(EVENT_taskwait))
        taskwait_for_end(&k->own.task, k->own.site);
    else if (k->own.runs)
        omp_task_run_end(&k->own.task, &k->own.frame, k->own.outer, k->own.site);
    k->own.runs = false;
}

/* A thread switches tasks: to one that begins, to the one below, or to one that was suspended and
 * may have run elsewhere, which nothing orders. */
static void ompt_tool_resume_task(struct ompt_task_data *from, struct ompt_task_data *to)
{
    bool back = from && from->explicit && from->own.runs && to &&
                from->own.outer == (to->explicit ? &to->own.frame : &to->member.frame);
    if (back)
        task_frame_resume(from->own.outer);
    else if (to && to->explicit && !to->own.runs) {
        to->own.runs = true;
        to->own.outer = omp_task_run_begin(&to->own.task, &to->own.frame, to->own.site);
    } else if (to && to->explicit && from != to) {
        event_record(EVENT_run, 0, POET_DOUBT_THREAD, to->own.site);
        to->own.outer = task_frame_resume(&to->own.frame);
    }
}

static void task_schedule(ompt_data_t *prior, int how, ompt_data_t *next)
{
    struct ompt_task_data *from = prior ? prior->ptr : NULL, *to = next ? next->ptr : NULL;
    bool over = how == ompt_task_complete || how == ompt_task_cancel || how == ompt_task_detach ||
                how == ompt_taskwait_complete;
    if (how == ompt_task_early_fulfill || how == ompt_task_late_fulfill)
        return;
    if (over && from && from->explicit) {
        ompt_tool_end_task(from, how);
        prior->ptr = NULL;
        free(from);
    }
    if (!over || (to && to->explicit && !to->own.runs))
        ompt_tool_resume_task(over ? NULL : from, to);
}

/* ---- the beginning ---- */

static int ompt_tool_initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *tool)
{
    ompt_set_callback_t set = (ompt_set_callback_t)(uintptr_t)lookup("ompt_set_callback");
    const char *cancels = getenv("OMP_CANCELLATION");
#define SET(name) set(ompt_callback_##name, (ompt_interface_fn_t)(uintptr_t)name)
    if (!set)
        return 0;
    cancellable = cancels && *cancels && !strchr("0fFnN", *cancels);
    SET(parallel_begin);
    SET(parallel_end);
    SET(implicit_task);
    SET(sync_region);
    SET(sync_region_wait);
    SET(work);
    SET(cancel);
    SET(task_create);
    SET(task_schedule);
    SET(dependences);
    atomic_store(&ompt_tool_active, true);
    return 1;
}

static void ompt_tool_finalize(ompt_data_t *tool) {}

/* The runtime supports one tool: if another one is present, that one is used. */
API ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime);
API ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t ours = {ompt_tool_initialize, ompt_tool_finalize, {0}};
    ompt_start_tool_result_t *(*next)(unsigned, const char *);
    const char *wanted = getenv("OMP_TOOL_LIBRARIES");
    *(void **)&next = next_in(RTLD_NEXT, "ompt_start_tool");
    ompt_start_tool_result_t *other = next ? next(version, runtime) : NULL;
    if (other || (wanted && *wanted) || next_in(RTLD_DEFAULT, "__tsan_init"))
        return other;
    return &ours;
}
