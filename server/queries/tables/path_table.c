/* Table of the critical path: which code segments dominate it, the slack of each, and what-if
 * results with some of them changed (server/analysis/critical_path.h, activity_graph.h).
 *
 * Options: "factor" = "CODE=MILLIONTHS" changes a code segment, by its code in a table without
 * changes; "free" = a line that no thread waits for; "zeros" = number of the largest segments with
 * a computed what-if gain (0: all); "cpus" = the number of CPUs for the bound; "no-latency":
 * unblocked threads resume at once; "min": runnable threads always have a CPU. For pieces "begin",
 * "end": only those between these ns. */
#include "base/alloc.h"
#include "server/queries/tables/path_baseline.h"
#include "server/queries/tables/step_categories.h"
#include "server/run/cpu_placement.h"
#include "server/run/event_times.h"

#include <stdlib.h>
#include <string.h>

/* A request about the critical path, and its progress. */
struct path_work {
    const struct table_view *view;
    struct path_baseline *basis;
    struct graph_change change; /* the requested change */
    /* By code segment - 1: the requested factors; those of one what-if pass. */
    uint32_t *factors, *zeroed;
    uint32_t steps; /* number of code segments when the work began */
    bool changed;
    /* Number of the largest code segments that get a what-if gain, UINT64_MAX: none; those done. */
    uint64_t zeros, zeros_done;
    int64_t changed_ns;
    uint64_t cpus; /* number of CPUs for the bound; 0: not requested */
    unsigned stage; /* an enum path_stage */
    bool begun; /* the current stage has begun */
    bool pieces; /* by "piece": only the path itself is computed */
    bool kinds; /* by "category" */
    struct step_categories categories;
};

/* ---- columns and rows, once all is computed ---- */

enum path_column {
    WHAT,
    PATH_NS,
    SHARE,
    TOTAL_NS,
    IMBALANCE,
    SLACK,
    ZERO_NS,
    CODE,
    LENGTH,
    WORK,
    SPAN_NS,
    BOUND,
    HOPS,
    IF_NS,
    CATEGORY,
    COLUMNS
};

static const struct column_definition path_table_columns[COLUMNS] = {
    [WHAT] = {"segment", "code segment", .kind = TABLE_STEP},
    [PATH_NS] = {"critical_path_ns", "on path", .kind = TABLE_NS},
    [SHARE] = {"share", "% of path", .kind = TABLE_SHARE},
    [TOTAL_NS] = {"total_ns", "all threads", .kind = TABLE_NS},
    [IMBALANCE] = {"imbalance_ns", .kind = TABLE_NS},
    [SLACK] = {"slack_ns", .kind = TABLE_NS},
    [ZERO_NS] = {"whatif_gain_ns", "what-if gain", .kind = TABLE_NS,
                 .source = "recorded lock acquisition order"},
    [CODE] = {"code", .kind = TABLE_COUNT, .detail = true},
    [LENGTH] = {"length_ns", .kind = TABLE_NS, .detail = true},
    [WORK] = {"work_ns", .kind = TABLE_NS, .detail = true},
    [SPAN_NS] = {"span_ns", .kind = TABLE_NS, .detail = true},
    [BOUND] = {"bound_n", "bound", .kind = TABLE_SHARE, .detail = true},
    [HOPS] = {"hops", .kind = TABLE_COUNT, .detail = true},
    [IF_NS] = {"if_ns", "what-if", .kind = TABLE_NS, .detail = true},
    [CATEGORY] = {"of", "category", .kind = TABLE_TEXT, .detail = true},
};

/* Columns of the path itself, for by = "piece". */
enum path_piece_column { PIECE_THREAD, PIECE_NS, PIECE_STEP, PIECE_FROM, PIECE_KIND, PIECE_END };

static const struct column_definition path_table_piece_columns[] = {
    [PIECE_THREAD] = {"thread", .kind = TABLE_LINE},
    [PIECE_NS] = {"critical_path_ns", "on path", .kind = TABLE_NS},
    [PIECE_STEP] = {"segment", "code segment", .kind = TABLE_STEP},
    [PIECE_FROM] = {"from_ns", .kind = TABLE_NS},
    [PIECE_KIND] = {"kind", .kind = TABLE_TEXT},
    [PIECE_END] = {"end_event", .kind = TABLE_EVENT},
};

static void add_columns(const struct path_work *w, struct result_table *t, bool threads)
{
    struct column_definition columns[COLUMNS];
    memcpy(columns, path_table_columns, sizeof columns);
    if (w->kinds)
        columns[WHAT] = (struct column_definition){"category", .kind = TABLE_TEXT};
    else if (threads)
        columns[WHAT] = (struct column_definition){"thread", .kind = TABLE_LINE};
    columns[ZERO_NS].detail = w->zeros == UINT64_MAX;
    table_add_columns(t, columns, COLUMNS);
}

static double share_of(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

/* Returns whether the range begins later than the graph, which begins with the run. */
static bool from_later(const struct path_work *w) { return w->view->from_ns != INT64_MIN; }

static void fill_steps(struct path_work *w, struct result_table *t)
{
    for (uint32_t i = 0; i < w->basis->sums.count; i++) {
        const struct step_total *s = &w->basis->sums.items[i];
        struct table_cell *cells = table_add_row(t, 0, table_event(w->view, s->longest));
        if (!cells)
            return;
        cells[WHAT] = s->step ? table_step(w->view, s->step)
                              : table_cell_text(path_category_name((enum path_piece_kind)s->is));
        cells[PATH_NS] = table_cell_number(s->path_ns);
        cells[SHARE] = table_cell_real(share_of(s->path_ns, path_baseline_length(w->basis)));
        cells[TOTAL_NS] = table_cell_number(s->total_ns);
        cells[IMBALANCE] = table_cell_number(step_totals_imbalance(&w->basis->sums, s));
        if (s->slack_ns != INT64_MAX)
            cells[SLACK] = table_cell_number(s->slack_ns);
        if (s->has_zero)
            cells[ZERO_NS] = table_cell_number(s->zero_ns);
        cells[CODE] = table_cell_number(s->step);
        cells[CATEGORY] = step_categories_cell(step_categories_step(&w->categories, s->step));
        table_row_line(t, s->thread);
    }
}

/* Returns whether a piece lies between the requested times. */
static bool is_between(const struct path_work *w, const struct path_piece *p)
{
    const char *begin = table_option(w->view->request, "begin"),
               *end = table_option(w->view->request, "end");
    return (!begin || p->to_ns >= strtoll(begin, NULL, 10)) &&
           (!end || p->from_ns <= strtoll(end, NULL, 10));
}

/* Adds the path itself for by = "piece", thread after thread. */
static void fill_pieces(const struct path_work *w, struct result_table *t)
{
    table_add_columns(t, path_table_piece_columns,
                      sizeof path_table_piece_columns / sizeof *path_table_piece_columns);
    const struct table_request *r = w->view->request;
    bool first = r->top && !*r->sort; /* further rows would not be sent */
    for (size_t i = 0; i < w->basis->path.count && !(first && t->row_count == r->top); i++) {
        const struct path_piece *p = &w->basis->path.pieces[i];
        if (!is_between(w, p))
            continue;
        struct event_id until = table_event(w->view, p->position);
        int64_t from = p->from_ns > w->view->from_ns ? p->from_ns : w->view->from_ns;
        struct table_cell *cells = p->to_ns > from ? table_add_row(t, 0, until) : NULL;
        if (!cells)
            continue;
        cells[PIECE_THREAD] = table_cell_line(p->thread);
        cells[PIECE_NS] = table_cell_number(p->to_ns - from);
        cells[PIECE_STEP] = table_step(w->view, p->step);
        cells[PIECE_FROM] = table_cell_number(from);
        cells[PIECE_KIND] = table_cell_text(path_category_name((enum path_piece_kind)p->is));
        cells[PIECE_END] = table_cell_event(until);
        table_row_line(t, p->thread);
    }
}

static int64_t path_table_ns_in_range(const struct path_work *w, const struct path_piece *p)
{
    int64_t from = p->from_ns > w->view->from_ns ? p->from_ns : w->view->from_ns;
    return p->to_ns > from ? p->to_ns - from : 0;
}

/* Returns the time of each thread on the path, by thread index; the caller frees it. */
static int64_t *sum_threads(const struct path_work *w)
{
    const struct intervals *all = w->view->measured;
    const struct critical_path *path = &w->basis->path;
    int64_t *on = xcalloc(all->thread_count + 1, sizeof *on);
    for (size_t i = 0; i < path->count; i++) {
        const struct thread_timeline *c = intervals_for_thread(all, path->pieces[i].thread);
        if (c)
            on[c - all->threads] += path_table_ns_in_range(w, &path->pieces[i]);
    }
    return on;
}

static void fill_threads(const struct path_work *w, struct result_table *t)
{
    int64_t *on = sum_threads(w);
    for (uint32_t i = 0; i < w->basis->sums.of; i++) {
        uint32_t line = w->view->measured->threads[i].thread;
        struct table_cell *cells = on[i] ? table_add_row(t, 0, (struct event_id){0}) : NULL;
        if (!cells)
            continue;
        cells[WHAT] = table_cell_line(line);
        cells[PATH_NS] = table_cell_number(on[i]);
        cells[SHARE] = table_cell_real(share_of(on[i], path_baseline_length(w->basis)));
        cells[TOTAL_NS] = table_cell_number(w->basis->sums.threads[i]);
        table_row_line(t, line);
    }
    free(on);
}

/* Returns the minimum time for all the work on the requested number of CPUs, or on any number. */
static int64_t least_of(const struct path_work *w)
{
    int64_t share = w->cpus ? w->basis->sums.work_ns / (int64_t)w->cpus : 0;
    return share > w->basis->span_ns ? share : w->basis->span_ns;
}

static void fill_total(const struct path_work *w, struct result_table *t)
{
    struct table_cell *cells = table_make_total(t);
    int64_t work = w->basis->sums.work_ns, least = least_of(w);
    cells[PATH_NS] = cells[LENGTH] = table_cell_number(path_baseline_length(w->basis));
    cells[TOTAL_NS] = table_cell_number(w->basis->sums.runs_ns);
    cells[WORK] = table_cell_number(work);
    if (!from_later(w))
        cells[SPAN_NS] = table_cell_number(w->basis->span_ns);
    if (least > 0 && !from_later(w))
        cells[BOUND] = table_cell_real((double)work / (double)least);
    cells[HOPS] = table_cell_number((int64_t)w->basis->path.hops);
    if (w->changed)
        cells[IF_NS] = table_cell_number(w->changed_ns);
}

/* Adds a note if the path begins late, as earlier events are missing. */
static void note_begin(const struct path_work *w, struct result_table *t)
{
    const struct critical_path *path = &w->basis->path;
    const struct thread_timeline *c =
        path->count ? intervals_for_thread(w->view->measured, path->pieces[0].thread) : NULL;
    if (c && table_note_unknown_before(w->view, c))
        table_add_note(t, "the path starts at %.3f ms: earlier events were discarded (--keep)",
                       (double)path->pieces[0].from_ns / 1e6);
}

/* Adds a note about the time that --unlimited-cpus removes. */
static void note_processors(const struct path_work *w, struct result_table *t)
{
    static const char *const sources[CPU_SOURCE_SOURCES] = {
        "", "samples of CPU time", "thread CPU clocks at events", "context-switch records"};
    const struct intervals *all = w->view->measured;
    int64_t delay = 0;
    unsigned source = CPU_SOURCE_ORDER;
    for (uint32_t i = 0; i < all->thread_count && w->change.spans; i++) {
        struct thread_states sums;
        thread_states_sum(&w->view->lives, &all->threads[i], w->view->from_ns,
                          table_until(w->view, &all->threads[i]), &sums);
        delay += sums.of[THREAD_STATE_RUNNABLE].total_ns - sums.let_go_ns;
        unsigned is = cpu_states_best(w->change.spans, all->threads[i].thread, CPU_SOURCE_ORDER);
        source = is > source ? is : source;
    }
    if (source == CPU_SOURCE_ORDER)
        table_add_note(t, "no CPU scheduling data: time between waits counts as running");
    else
        table_add_note(t, "runnable threads waited %.3f ms in total for a CPU (source: %s)",
                       (double)delay / 1e6, sources[source]);
}

static void add_notes(const struct path_work *w, struct result_table *t)
{
    note_begin(w, t);
    if (w->basis->span_ns <= 0)
        return;
    if (from_later(w))
        table_add_note(t, "slack and what-if values are for the whole run from its start");
    else
        table_add_note(t,
                       "work %.3f ms%s, span %.3f ms: speedup over one CPU is at most %.2f on any "
                       "number of CPUs",
                       (double)w->basis->sums.work_ns / 1e6,
                       w->basis->sums.work_ns < w->basis->sums.runs_ns
                           ? " (excluding time runnable without a CPU)"
                           : "",
                       (double)w->basis->span_ns / 1e6,
                       share_of(w->basis->sums.work_ns, w->basis->span_ns));
    if (w->cpus && !from_later(w))
        table_add_note(t, "speedup on %llu CPUs is at most %.2f", (unsigned long long)w->cpus,
                       share_of(w->basis->sums.work_ns, least_of(w)));
    if (w->changed)
        table_add_note(t, "what-if duration %.3f ms instead of %.3f ms (%+.1f %%)",
                       (double)w->changed_ns / 1e6, (double)w->basis->whole_ns / 1e6,
                       100 * share_of(w->changed_ns - w->basis->whole_ns, w->basis->whole_ns));
    if (table_option(w->view->request, "min"))
        note_processors(w, t);
    if (w->changed || w->zeros != UINT64_MAX)
        table_add_note(t, "what-if values assume the recorded lock acquisition order; they are "
                          "estimates, since a changed program may acquire locks in another order");
    if (activity_graph_left_out(w->basis->graph))
        table_add_note(t, "%llu zero-time cyclic edges ignored",
                       (unsigned long long)activity_graph_left_out(w->basis->graph));
}

static void path_table_fill(struct path_work *w, struct result_table *t)
{
    const struct table_request *request = w->view->request;
    t->title = xstrdup("critical path");
    if (w->pieces) {
        fill_pieces(w, t);
        table_arrange(t, request, NULL);
        return;
    }
    bool threads = strcmp(request->by, "thread") == 0;
    add_columns(w, t, threads);
    if (threads)
        fill_threads(w, t);
    else if (w->kinds)
        path_categories_fill(&w->categories, &w->basis->path, t);
    else
        fill_steps(w, t);
    fill_total(w, t);
    add_notes(w, t);
    table_arrange(t, request, threads || w->kinds ? "critical_path_ns" : NULL);
}

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

static bool path_query_parse_options(struct path_work *w, struct error *error)
{
    const struct table_request *r = w->view->request;
    for (uint32_t i = 0; i < r->option_count; i++)
        if (strcmp(r->options[i].key, "factor") == 0 &&
            !path_query_parse_factor(w, r->options[i].value)) {
            error_set(error, "no segment \"%s\"", r->options[i].value);
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

/* Sets the event at which the path ends. */
static void path_query_set_target(struct path_work *w)
{
    const struct table_view *view = w->view;
    struct event_id at = path_baseline_target(view);
    w->basis = path_baseline_acquire(view, at);
    if (w->basis->whole || (w->pieces && w->basis->followed)) {
        w->stage = w->pieces ? DONE : CHANGE;
        return;
    }
    w->basis->followed = false;
    bool known = path_baseline_begin_path(&w->basis->path, view, at);
    if (known || view->to_ns != INT64_MAX) {
        w->basis->until = w->basis->path.at;
        w->basis->until_ns = w->basis->path.at_ns;
    }
}

static void *path_query_begin(const struct table_view *view, struct error *error)
{
    struct path_work *w = xcalloc(1, sizeof *w);
    w->view = view;
    w->steps = view->measured->steps.count;
    w->pieces = strcmp(view->request->by, "piece") == 0;
    w->kinds = strcmp(view->request->by, "category") == 0;
    if (!step_categories_begin(&w->categories, view, error) ||
        !path_query_parse_options(w, error)) {
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
