#include "server/queries/tables/path_baseline.h"

#include "base/alloc.h"
#include "server/queries/interval_cache.h"
#include "server/run/cpu_placement.h"
#include "server/run/event_times.h"

#include <stdlib.h>

/* ---- totals of code segments ---- */

const char *path_category_name(enum path_piece_kind is)
{
    static const char *const words[] = {[PATH_RUNS] = "runs",
                                        [PATH_LATENCY] = "wake-up latency",
                                        [PATH_TIMEOUT] = "timeout",
                                        [PATH_STARTS] = "start latency",
                                        [PATH_UNATTRIBUTED] = "unattributed"};
    return words[is];
}

/* Returns how much of from .. to lies in least .. most. */
static int64_t step_totals_ns_in_range(int64_t from, int64_t to, int64_t least, int64_t most)
{
    from = from > least ? from : least;
    to = to < most ? to : most;
    return to > from ? to - from : 0;
}

/* Returns the total of a code segment, made on first use; time without one has a total by its
 * kind. */
static struct step_total *step_totals_sum_of(struct step_totals *sums, uint32_t step, uint8_t is)
{
    if (step && sums->index[step - 1])
        return &sums->items[sums->index[step - 1] - 1];
    for (uint32_t i = 0; !step && i < sums->count; i++)
        if (!sums->items[i].step && sums->items[i].is == is)
            return &sums->items[i];
    sums->items = array_reserve(sums->items, &sums->room, sums->count + 1, sizeof *sums->items);
    sums->items[sums->count++] =
        (struct step_total){.step = step, .is = is, .longest = UINT64_MAX, .slack_ns = INT64_MAX};
    if (step)
        sums->index[step - 1] = sums->count;
    return &sums->items[sums->count - 1];
}

static void step_totals_add_piece(struct step_totals *sums, const struct table_view *view,
                                  const struct path_piece *p)
{
    int64_t ns = step_totals_ns_in_range(p->from_ns, p->to_ns, view->from_ns, INT64_MAX);
    if (!ns)
        return;
    struct step_total *sum = step_totals_sum_of(sums, p->step, p->is);
    sum->path_ns += ns;
    if (!p->step)
        sum->total_ns += ns;
    if (ns > sum->longest_ns) {
        sum->longest_ns = ns;
        sum->longest = p->position;
        sum->thread = p->thread;
    }
}

static int step_totals_by_path(const void *a, const void *b)
{
    const struct step_total *x = a, *y = b;
    if (x->path_ns != y->path_ns)
        return (x->path_ns < y->path_ns) - (x->path_ns > y->path_ns);
    if (x->total_ns != y->total_ns)
        return (x->total_ns < y->total_ns) - (x->total_ns > y->total_ns);
    return (x->step > y->step) - (x->step < y->step);
}

static void step_totals_sort(struct step_totals *sums)
{
    if (sums->count)
        qsort(sums->items, sums->count, sizeof *sums->items, step_totals_by_path);
    for (uint32_t i = 0; i < sums->count; i++)
        if (sums->items[i].step)
            sums->index[sums->items[i].step - 1] = i + 1;
}

static void step_totals_add_work(void *context, enum cpu_state is, int64_t from_ns, int64_t to_ns)
{
    *(int64_t *)context += is == CPU_STATE_RUNNABLE ? 0 : to_ns - from_ns;
}

static void step_totals_add_interval(struct step_totals *sums, const struct table_view *view,
                                     const struct thread_timeline *c, size_t i)
{
    const struct interval *in = &c->items[i];
    int64_t begin = interval_begin(c, i), from = begin > view->from_ns ? begin : view->from_ns,
            ns = step_totals_ns_in_range(begin, in->to_ns, view->from_ns, sums->until_ns);
    if (in->is == INTERVAL_RUNS && ns) {
        sums->threads[sums->thread] += ns;
        cpu_states_visit(cpu_placement_states(view->run), c, &sums->walk, from, from + ns,
                         step_totals_add_work, &sums->work_ns);
    }
    if (in->step && in->step <= sums->steps && ns)
        step_totals_sum_of(sums, in->step, PATH_RUNS)->total_ns += ns;
}

static void step_totals_begin(struct step_totals *sums, const struct intervals *all)
{
    sums->steps = all->steps.count;
    sums->of = all->thread_count;
    sums->index = xcalloc(all->steps.count + 1, sizeof *sums->index);
    sums->threads = xcalloc(all->thread_count + 1, sizeof *sums->threads);
}

static void step_totals_add_interval_slack(struct step_totals *sums,
                                           const struct thread_timeline *c,
                                           const struct activity_graph *graph, size_t i)
{
    uint32_t step = c->items[i].step;
    if (!step || step > sums->steps || !sums->index[step - 1])
        return;
    struct step_total *sum = &sums->items[sums->index[step - 1] - 1];
    int64_t slack = activity_graph_slack(graph, sums->thread, i);
    sum->slack_ns = slack < sum->slack_ns ? slack : sum->slack_ns;
}

/* Adds the intervals of all threads in the graph, or their slack; returns true at the end, where
 * it starts again. */
static bool step_totals_visit_intervals(struct step_totals *sums, const struct table_view *view,
                                        const struct activity_graph *graph, uint64_t *budget,
                                        bool slack)
{
    for (; sums->thread < sums->of; sums->thread++, sums->item = 0) {
        const struct thread_timeline *c = &view->measured->threads[sums->thread];
        size_t count = activity_graph_intervals(graph, sums->thread);
        if (!slack && !sums->item && count) {
            sums->until_ns = table_until(view, c);
            sums->walk = (struct cpu_state_walk){0};
        }
        for (; sums->item < count; sums->item++, --*budget) {
            if (!*budget)
                return false;
            if (slack)
                step_totals_add_interval_slack(sums, c, graph, sums->item);
            else
                step_totals_add_interval(sums, view, c, sums->item);
        }
        sums->living += !slack && count;
        sums->runs_ns += slack ? 0 : sums->threads[sums->thread];
    }
    sums->thread = 0;
    return true;
}

bool step_totals_compute(struct step_totals *sums, const struct table_view *view,
                         const struct critical_path *path, const struct activity_graph *graph,
                         uint64_t budget)
{
    if (!sums->index)
        step_totals_begin(sums, view->measured);
    for (; sums->piece < path->count; sums->piece++, budget--) {
        if (!budget)
            return false;
        step_totals_add_piece(sums, view, &path->pieces[sums->piece]);
    }
    if (!step_totals_visit_intervals(sums, view, graph, &budget, false))
        return false;
    step_totals_sort(sums);
    return true;
}

bool step_totals_add_slack(struct step_totals *sums, const struct table_view *view,
                           const struct activity_graph *graph, uint64_t budget)
{
    return step_totals_visit_intervals(sums, view, graph, &budget, true);
}

int64_t step_totals_imbalance(const struct step_totals *sums, const struct step_total *sum)
{
    int64_t mean = sums->living ? sum->total_ns / sums->living : 0;
    return sum->path_ns > mean ? sum->path_ns - mean : 0;
}

static void step_totals_free(struct step_totals *sums)
{
    free(sums->items);
    free(sums->index);
    free(sums->threads);
}

/* ---- baseline ---- */

#define KEPT_MOST ((size_t)512 << 20) /* maximum bytes of a kept graph */

static void path_baseline_free(void *state)
{
    struct path_baseline *basis = state;
    if (!basis)
        return;
    activity_graph_free(basis->graph);
    critical_path_free(&basis->path);
    step_totals_free(&basis->sums);
    free(basis);
}

static bool path_baseline_is_same(const struct basis_of *a, const struct basis_of *b)
{
    return a->again == b->again && a->known == b->known && a->from_ns == b->from_ns &&
           a->to_ns == b->to_ns && a->at.line == b->at.line && a->at.number == b->at.number;
}

static void path_baseline_forget_changes(struct step_totals *sums)
{
    for (uint32_t i = 0; i < sums->count; i++)
        sums->items[i].has_zero = false;
}

struct event_id path_baseline_target(const struct table_view *view)
{
    const struct table_request *r = view->request;
    return r->past_of.line              ? r->past_of
           : r->to.is == TABLE_AT_EVENT ? r->to.event
                                        : (struct event_id){0};
}

bool path_baseline_begin_path(struct critical_path *path, const struct table_view *view,
                              struct event_id at)
{
    uint64_t position = at.line ? order_position(view->run->order, at) : NO_POSITION;
    uint32_t thread = position == NO_POSITION ? 0 : order_event(view->run->order, position).thread;
    critical_path_begin(path, view->measured, thread,
                        thread ? event_times_fitted(view->run, position) : view->to_ns);
    return thread != 0;
}

struct path_baseline *path_baseline_acquire(const struct table_view *view, struct event_id at)
{
    /* the run's contents do not change, only its cache */
    struct run *cache = (struct run *)(uintptr_t)view->run;
    struct path_baseline *basis = run_addon_detach(&cache->addons, RUN_ADDON_PATH_BASELINE);
    struct basis_of of = {interval_cache_generation(view->run), interval_cache_position(view->run),
                          view->from_ns, view->to_ns, at};
    if (basis && path_baseline_is_same(&basis->of, &of)) {
        path_baseline_forget_changes(&basis->sums);
        return basis;
    }
    path_baseline_free(basis);
    basis = xcalloc(1, sizeof *basis);
    basis->of = of;
    return basis;
}

void path_baseline_release(const struct run *run, struct path_baseline *basis)
{
    struct run *cache = (struct run *)(uintptr_t)run;
    size_t bytes = basis->path.count * sizeof *basis->path.pieces;
    bytes += basis->graph ? activity_graph_bytes(basis->graph) : 0;
    if (!(basis->whole || basis->followed) || basis->of.again != interval_cache_generation(run) ||
        bytes > KEPT_MOST) {
        path_baseline_free(basis);
        return;
    }
    run_addon_attach(&cache->addons, RUN_ADDON_PATH_BASELINE,
                     (struct run_addon){basis, path_baseline_free});
}

int64_t path_baseline_length(const struct path_baseline *basis)
{
    const struct critical_path *path = &basis->path;
    int64_t length = critical_path_length(path), from_ns = basis->of.from_ns;
    if (from_ns == INT64_MIN || !path->count || from_ns <= path->pieces[0].from_ns)
        return length;
    int64_t before = from_ns - path->pieces[0].from_ns;
    return before < length ? length - before : 0;
}
