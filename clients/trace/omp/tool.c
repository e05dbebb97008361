/* A tool of OMPT: what LLVM's runtime tells of regions, barriers and tasks. */
#define _GNU_SOURCE
#include "clients/trace/omp/tool.h"

#include "clients/trace/omp/held.h"
#include "clients/trace/omp/ompt.h"
#include "clients/trace/omp/real.h"
#include "clients/trace/omp/tasks.h"
#include "clients/trace/omp/team.h"
#include "clients/trace/next.h"
#include "clients/trace/poet.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static _Atomic bool told;
static bool cancellable; /* regions can be cancelled */
static __thread struct {
    const void *site, *body;
} forks __attribute__((tls_model("initial-exec")));

static __thread struct {
    const void *site, *loop;
    struct kept *handed;
    bool hidden;
} creates __attribute__((tls_model("initial-exec")));

bool tool_is_told(void) { return atomic_load_explicit(&told, memory_order_relaxed); }

void tool_forks(const void *site, const void *body)
{
    forks.site = site;
    forks.body = body;
}

/* What the runtime keeps for us with each task: a member's, or an explicit one's. */
struct kept {
    bool explicit;
    union {
        struct member member;
        struct {
            struct task task;
            struct frame frame, *outer;
            const void *site;
            bool runs, waits; /* it waits for others as if it depended on them, and does nothing */
        } own;
    };
};

static const void *site_of(const void *return_address)
{
    const struct member *m = member_now();
    return return_address ? (const char *)return_address - 1 : m && m->team ? m->team->body : NULL;
}

/* ---- regions ---- */

static void parallel_begin(ompt_data_t *task, const void *frame, ompt_data_t *parallel,
                           unsigned wanted, int flags, const void *return_address)
{
    const void *site = forks.site ? forks.site : site_of(return_address);
    struct team *t = malloc(sizeof *t);
    parallel->ptr = t;
    if (t)
        team_begin(t, forks.body ? forks.body : site, cancellable, site);
    tool_forks(NULL, NULL);
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
    struct kept *k = end == ompt_scope_end ? task->ptr : NULL;
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

static void barrier(int kind, int end, const void *site)
{
    struct member *m = member_now();
    if (!m || m->over) /* it has met the others at the end already */
        return;
    if (kind >= ompt_sync_region_barrier_implicit_parallel && end == ompt_scope_begin)
        member_over(m, NULL, NULL);
    else if (end == ompt_scope_begin)
        barrier_reach(m, site);
    else
        barrier_through(m, false, site);
    if (end == ompt_scope_begin)
        held_await_team();
    else
        held_go_on();
}

static void sync_region(int kind, int end, ompt_data_t *parallel, ompt_data_t *task,
                        const void *return_address)
{
    const void *site = site_of(return_address);
    if (kind == ompt_sync_region_taskwait && end == ompt_scope_begin) {
        if (taskwait_begin(site))
            held_await_children();
    } else if (kind == ompt_sync_region_taskwait && frame_is_waiting(EVENT_taskwait))
        taskwait_end(site);
    else if (kind == ompt_sync_region_taskgroup && end == ompt_scope_begin)
        taskgroup_begin();
    else if (kind == ompt_sync_region_taskgroup)
        taskgroup_end(frame_is_waiting(EVENT_taskgroup), site);
    else if (kind != ompt_sync_region_taskwait && kind != ompt_sync_region_reduction)
        barrier(kind, end, site);
}

static void sync_region_wait(int kind, int end, ompt_data_t *parallel, ompt_data_t *task,
                             const void *return_address)
{
    if (kind == ompt_sync_region_taskgroup && end == ompt_scope_begin &&
        taskgroup_waits(false, site_of(return_address)))
        held_await_group();
}

static void work(int kind, int end, ompt_data_t *parallel, ompt_data_t *task, uint64_t count,
                 const void *return_address)
{
    struct member *m = member_now();
    if (m && kind == ompt_work_loop && end == ompt_scope_end)
        m->loops++;
}

static void cancel(ompt_data_t *task, int flags, const void *return_address)
{
    struct member *m = member_now();
    if (m && flags & ompt_cancel_activated)
        note(EVENT_stop, m->team->line, 0, site_of(return_address));
    else if (m && flags & ompt_cancel_detected)
        note(EVENT_stopped, m->team->line, POET_DOUBT_THREAD, site_of(return_address));
}

/* ---- tasks ---- */

void tool_spawns(const void *site)
{
    if (!site || !creates.site)
        creates.site = site;
}

const void *tool_loops(const void *site)
{
    const void *before = creates.loop;
    creates.loop = site;
    return before;
}

struct task *tool_task(struct kept *kept) { return &kept->own.task; }

void tool_hands(struct kept *kept) { creates.handed = kept; }

void tool_hides(void) { creates.hidden = true; }

static struct kept *new_task(const void *site)
{
    struct kept *k = calloc(1, sizeof *k);
    if (!k)
        return NULL;
    k->explicit = true;
    k->own.site = site;
    return k;
}

static void make(struct kept *k)
{
    task_make(&k->own.task, false);
    task_spawn(&k->own.task, k->own.site);
}

struct kept *tool_makes(const void *site)
{
    struct kept *k = new_task(site);
    if (k)
        make(k);
    return k;
}

static void task_create(ompt_data_t *maker, const void *frame, ompt_data_t *task, int flags,
                        int depends, const void *return_address)
{
    const void *site = creates.site   ? creates.site
                       : creates.loop ? creates.loop
                                      : site_of(return_address);
    struct kept *k = creates.handed;
    bool known = k || creates.hidden || flags & ompt_task_initial;
    creates.site = NULL;
    creates.handed = NULL;
    creates.hidden = false;
    task->ptr = k = known ? k : new_task(site);
    if (known || !k)
        return;
    k->own.waits = flags & ompt_task_taskwait;
    if (k->own.waits && taskwait_like(&k->own.task))
        taskwait_for_begin(k->own.site);
    else if (!k->own.waits)
        make(k);
}

void tool_depends(struct task *task, const void *place, int how)
{
    task_depends(task, place,
                 how == ompt_dependence_type_in             ? DEPEND_READS
                 : how < ompt_dependence_type_mutexinoutset ? DEPEND_WRITES
                                                            : DEPEND_IN_SET,
                 how == ompt_dependence_type_mutexinoutset);
}

static void dependences(ompt_data_t *task, const ompt_dependence_t *list, int count)
{
    struct kept *k = task->ptr;
    for (int i = 0; k && k->explicit && i < count; i++)
        tool_depends(&k->own.task, list[i].variable.ptr, list[i].dependence_type);
    if (k && k->explicit && k->own.waits)
        held_await_before(&k->own.task);
}

/* It is over, or has been dropped before it began. */
static void end(struct kept *k, int how)
{
    if (how == ompt_task_detach)
        tasks_untold(); /* over when somebody says so */
    if (k->own.waits && frame_is_waiting(EVENT_taskwait))
        taskwait_for_end(&k->own.task, k->own.site);
    else if (k->own.runs)
        task_ran(&k->own.task, &k->own.frame, k->own.outer, k->own.site);
    k->own.runs = false;
}

/* A thread goes from one task to another: to one that begins, back to the one below, or to one that was put away and
 * may have run elsewhere, which no order says. */
static void go_on(struct kept *from, struct kept *to)
{
    bool back = from && from->explicit && from->own.runs && to &&
                from->own.outer == (to->explicit ? &to->own.frame : &to->member.frame);
    if (back)
        frame_resume(from->own.outer);
    else if (to && to->explicit && !to->own.runs) {
        to->own.runs = true;
        to->own.outer = task_run(&to->own.task, &to->own.frame, to->own.site);
    } else if (to && to->explicit && from != to) {
        note(EVENT_run, 0, POET_DOUBT_THREAD, to->own.site);
        to->own.outer = frame_resume(&to->own.frame);
    }
}

static void task_schedule(ompt_data_t *prior, int how, ompt_data_t *next)
{
    struct kept *from = prior ? prior->ptr : NULL, *to = next ? next->ptr : NULL;
    bool over = how == ompt_task_complete || how == ompt_task_cancel || how == ompt_task_detach ||
                how == ompt_taskwait_complete;
    if (how == ompt_task_early_fulfill || how == ompt_task_late_fulfill)
        return;
    if (over && from && from->explicit) {
        end(from, how);
        prior->ptr = NULL;
        free(from);
    }
    if (!over || (to && to->explicit && !to->own.runs))
        go_on(over ? NULL : from, to);
}

/* ---- the beginning ---- */

static int initialize(ompt_function_lookup_t lookup, int device, ompt_data_t *tool)
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
    atomic_store(&told, true);
    return 1;
}

static void finalize(ompt_data_t *tool) {}

/* The runtime has one tool: where somebody wants another one, that is it. */
API ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime);
API ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t ours = {initialize, finalize, {0}};
    ompt_start_tool_result_t *(*next)(unsigned, const char *);
    const char *wanted = getenv("OMP_TOOL_LIBRARIES");
    *(void **)&next = next_in(RTLD_NEXT, "ompt_start_tool");
    ompt_start_tool_result_t *other = next ? next(version, runtime) : NULL;
    if (other || (wanted && *wanted) || next_in(RTLD_DEFAULT, "__tsan_init"))
        return other;
    return &ours;
}
