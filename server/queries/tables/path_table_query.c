/* Table of the critical path: which code segments dominate it, the slack of each, and what-if
 * results with some of them changed (server/analysis/critical_path.h, activity_graph.h).
 *
 *  Options: "factor" = "CODE=MILLIONTHS" changes a code segment, by its code in a table without
 * changes; "free" = a line that no thread waits for; "zeros" = number of the largest segments
 * whose what-if gain is computed (0: all); "cpus" = the number of CPUs for the bound;
 * "no-latency": unblocked threads resume at once; "min": runnable threads always have a CPU. For
 * pieces "begin", "end": only those between these ns. */
#include "base/alloc.h"
#include "server/run/cpu_placement.h"
#include "server/queries/tables/path_table.h"
#include "server/run/event_times.h"

#include <stdlib.h>
#include <string.h>

enum path_stage { FOLLOW, SUM, PREPARE, FORWARD, BACKWARD, SLACKS, SPAN, CHANGE, ZERO, DONE };

/* ---- the request ---- */

static uint64_t number_of(const struct table_request *request, const char *key, uint64_t otherwise)
{
    const char *value = table_option(request, key);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

static uint32_t *all_as_they_were(uint32_t count)
{
    uint32_t *factors = xreallocarray(NULL, count, sizeof *factors);
    for (uint32_t i = 0; i < count; i++)
        factors[i] = GRAPH_WHOLE;
    return factors;
}

/* Parses "CODE=MILLIONTHS"; returns false if it is invalid. */
static bool path_query_parse_factor(struct path_work *w, const char *value)
{
    char *end;
    unsigned long code = strtoul(value, &end, 10);
    if (*end != '=' || code == 0 || code > w->steps)
        return false;
    unsigned long millionths = strtoul(end + 1, &end, 10);
    if (*end || millionths > UINT32_MAX)
        return false;
    if (!w->factors)
        w->factors = all_as_they_were(w->steps);
    w->factors[code - 1] = (uint32_t)millionths;
    return true;
}

static bool path_query_parse_options(struct path_work *w, char **problem)
{
    const struct table_request *r = w->view->request;
    for (uint32_t i = 0; i < r->option_count; i++)
        if (strcmp(r->options[i].key, "factor") == 0 &&
            !path_query_parse_factor(w, r->options[i].value)) {
            *problem = xasprintf("no segment \"%s\"", r->options[i].value);
            return false;
        }
    w->change = (struct graph_change){
        .factors = w->factors,
        .factor_count = w->factors ? w->steps : 0,
        .no_latency = table_option(r, "no-latency") != NULL,
        .spans = table_option(r, "min") ? cpu_placement_states(w->view->run) : NULL,
        .free_line = (uint32_t)number_of(r, "free", 0)};
    w->changed =
        w->factors || w->change.no_latency || w->change.free_line || table_option(r, "min");
    w->cpus = number_of(r, "cpus", 0);
    w->zeros = number_of(r, "zeros", UINT64_MAX);
    if (table_option(r, "zeros") && w->zeros == 0)
        w->zeros = w->view->measured->steps.count;
    return true;
}

/* Sets the event at which the path ends: that of --past-of or --to; else the last end of any
 * thread. */
static void path_query_set_target(struct path_work *w)
{
    const struct table_view *view = w->view;
    const struct table_request *r = view->request;
    struct event_id at = r->past_of.line              ? r->past_of
                         : r->to.is == TABLE_AT_EVENT ? r->to.event
                                                      : (struct event_id){0};
    uint64_t position = at.line ? order_position(view->run->order, at) : NO_POSITION;
    uint32_t thread = position == NO_POSITION ? 0 : order_event(view->run->order, position).thread;
    w->basis = path_baseline_acquire(view, at);
    if (w->basis->whole || (w->pieces && w->basis->followed)) {
        w->stage = w->pieces ? DONE : CHANGE;
        return;
    }
    w->basis->followed = false;
    critical_path_begin(&w->basis->path, view->measured, thread,
                        thread ? event_times_fitted(view->run, position) : view->to_ns);
    if (thread || view->to_ns != INT64_MAX) {
        w->basis->until = w->basis->path.at;
        w->basis->until_ns = w->basis->path.at_ns;
    }
}

static void *path_query_begin(const struct table_view *view, char **problem)
{
    struct path_work *w = xcalloc(1, sizeof *w);
    w->view = view;
    w->steps = view->measured->steps.count;
    w->pieces = strcmp(view->request->by, "piece") == 0;
    w->kinds = strcmp(view->request->by, "category") == 0;
    if (!step_categories_begin(&w->categories, view, problem) ||
        !path_query_parse_options(w, problem)) {
        step_categories_free(&w->categories);
        free(w->factors);
        free(w);
        return NULL;
    }
    path_query_set_target(w);
    return w;
}

static void path_query_drop(void *p)
{
    struct path_work *w = p;
    path_baseline_release(w->view->run, w->basis);
    free(w->factors);
    free(w->zeroed);
    step_categories_free(&w->categories);
    free(w);
}

/* ---- work ---- */

/* Does a forward pass through the activity graph with a change; sets the resulting length. */
static bool path_query_forward_pass(struct path_work *w, struct graph_change change,
                                    uint64_t budget, int64_t *length)
{
    if (!w->begun)
        activity_graph_forward(w->basis->graph, change);
    w->begun = true;
    if (!activity_graph_forward_step(w->basis->graph, budget))
        return false;
    *length = activity_graph_length(w->basis->graph);
    return true;
}

static bool path_query_backward_pass(struct path_work *w, uint64_t budget)
{
    if (!w->begun)
        activity_graph_backward(w->basis->graph);
    w->begun = true;
    return activity_graph_backward_step(w->basis->graph, budget);
}

static bool path_query_compute_span(struct path_work *w, uint64_t budget)
{
    struct graph_change change = {.no_latency = true, .spans = cpu_placement_states(w->view->run)};
    return w->basis->whole = path_query_forward_pass(w, change, budget, &w->basis->span_ns);
}

/* Computes the what-if gain of the largest code segments, in one pass each; returns true when
 * all are done. */
static bool path_query_compute_zero_gain(struct path_work *w, uint64_t budget)
{
    if (w->zeros == UINT64_MAX || w->zeros_done == w->zeros ||
        w->zeros_done == w->basis->sums.count)
        return true;
    struct step_total *sum = &w->basis->sums.items[w->zeros_done];
    if (!sum->step || sum->step > w->steps) { /* no code segment: one more takes its place */
        w->zeros_done++;
        w->zeros++;
        return false;
    }
    if (!w->zeroed)
        w->zeroed = all_as_they_were(w->steps);
    uint32_t *at = &w->zeroed[sum->step - 1];
    int64_t length;
    *at = 0;
    bool done = path_query_forward_pass(
        w, (struct graph_change){.factors = w->zeroed, .factor_count = w->steps}, budget, &length);
    *at = GRAPH_WHOLE;
    if (done) {
        sum->zero_ns = w->basis->whole_ns - length;
        sum->has_zero = true;
        w->zeros_done++;
        w->begun = false;
    }
    return false;
}

static bool path_query_follow_path(struct path_work *w, uint64_t budget)
{
    if (!critical_path_step(&w->basis->path, budget))
        return false;
    if (w->pieces)
        return w->basis->followed = true;
    w->basis->graph = activity_graph_new(w->view->measured);
    if (w->basis->until)
        activity_graph_until(w->basis->graph, w->basis->until - 1, w->basis->until_ns);
    return true;
}

static bool path_query_run_stage(struct path_work *w, uint64_t budget)
{
    struct path_baseline *b = w->basis;
    switch (w->stage) {
    case FOLLOW:
        return path_query_follow_path(w, budget);
    case SUM:
        return step_totals_compute(&b->sums, w->view, &b->path, b->graph, budget);
    case PREPARE:
        return graph_prepare_step(b->graph, budget);
    case FORWARD:
        return path_query_forward_pass(w, (struct graph_change){0}, budget, &b->whole_ns);
    case BACKWARD:
        return path_query_backward_pass(w, budget);
    case SLACKS:
        return step_totals_add_slack(&b->sums, w->view, b->graph, budget);
    case SPAN:
        return path_query_compute_span(w, budget);
    case CHANGE:
        return !w->changed || path_query_forward_pass(w, w->change, budget, &w->changed_ns);
    case ZERO:
        return path_query_compute_zero_gain(w, budget);
    case DONE:
        break;
    }
    return true;
}

static bool path_query_step(void *p, uint64_t *budget)
{
    struct path_work *w = p;
    if (w->stage < DONE && path_query_run_stage(w, *budget)) {
        w->stage = w->pieces ? DONE : w->stage + 1;
        w->begun = false;
    }
    return w->stage == DONE && (!w->kinds || step_categories_split(&w->categories, budget));
}

static void path_query_fill(void *p, const struct table_view *view, struct result_table *t)
{
    (void)view;
    path_table_fill(p, t);
}

static const char *const path_query_groupings[] = {"segment", "thread", "piece", "category", NULL};

const struct table_preset preset_path = {.what = "path",
                                         .by = path_query_groupings,
                                         .begin = path_query_begin,
                                         .step = path_query_step,
                                         .fill = path_query_fill,
                                         .free = path_query_drop};
