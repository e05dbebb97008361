#include "server/queries/tables/path_table.h"

#include "base/alloc.h"
#include "server/queries/tables/path_categories.h"

#include <stdlib.h>
#include <string.h>

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
    [IMBALANCE] = {"imbalance_ns", "imbalance", .kind = TABLE_NS},
    [SLACK] = {"slack_ns", "slack", .kind = TABLE_NS},
    [ZERO_NS] = {"whatif_gain_ns", "what-if gain", .kind = TABLE_NS,
                 .source = "recorded lock acquisition order"},
    [CODE] = {"code", "code", .kind = TABLE_COUNT, .detail = true},
    [LENGTH] = {"length_ns", "length", .kind = TABLE_NS, .detail = true},
    [WORK] = {"work_ns", "work", .kind = TABLE_NS, .detail = true},
    [SPAN_NS] = {"span_ns", "span", .kind = TABLE_NS, .detail = true},
    [BOUND] = {"bound_n", "bound", .kind = TABLE_SHARE, .detail = true},
    [HOPS] = {"hops", "hops", .kind = TABLE_COUNT, .detail = true},
    [IF_NS] = {"if_ns", "what-if", .kind = TABLE_NS, .detail = true},
    [CATEGORY] = {"of", "category", .kind = TABLE_TEXT, .detail = true},
};

/* Columns of the path itself, for by = "piece". */
enum path_piece_column { PIECE_THREAD, PIECE_NS, PIECE_STEP, PIECE_FROM, PIECE_KIND, PIECE_END };

static const struct column_definition path_table_piece_columns[] = {
    [PIECE_THREAD] = {"thread", "thread", .kind = TABLE_LINE},
    [PIECE_NS] = {"critical_path_ns", "on path", .kind = TABLE_NS},
    [PIECE_STEP] = {"segment", "code segment", .kind = TABLE_STEP},
    [PIECE_FROM] = {"from_ns", "from", .kind = TABLE_NS},
    [PIECE_KIND] = {"kind", "kind", .kind = TABLE_TEXT},
    [PIECE_END] = {"end_event", "end event", .kind = TABLE_EVENT},
};

static void add_columns(const struct path_work *w, struct result_table *t, bool threads)
{
    struct column_definition columns[COLUMNS];
    memcpy(columns, path_table_columns, sizeof columns);
    if (w->kinds)
        columns[WHAT] = (struct column_definition){"category", "category", .kind = TABLE_TEXT};
    else if (threads)
        columns[WHAT] = (struct column_definition){"thread", "thread", .kind = TABLE_LINE};
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

void path_table_fill(struct path_work *w, struct result_table *t)
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
