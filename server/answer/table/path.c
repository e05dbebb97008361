/* The table of the critical path: which steps decided how long it took, how much later each could have been, and what
 * would be with some of them changed (server/causes/path.h, graph.h).
 *
 * Options: "factor" = "CODE=MILLIONTHS" changes a step, by its code as a row without changes told it; "free" = a line that
 * nobody waits for; "zeros" = for so many of the greatest steps (0: all), what would be if they took no time; "cpus" = for
 * the bound on what so many processors can win; "no-latency": who is let go goes on at once; "min": who could run and had no processor has one.  Of pieces "begin", "end":
 * only those that lie between these ns. */
#include "memory/memory.h"
#include "server/answer/table/basis.h"
#include "server/answer/table/pathcategories.h"
#include "server/run/times.h"

#include <stdlib.h>
#include <string.h>

enum stage { FOLLOW, SUM, PREPARE, FORWARD, BACKWARD, SLACKS, SPAN, CHANGE, ZERO, DONE };

struct work {
    const struct table_view *view;
    struct basis *basis;
    struct graph_change change; /* asked for */
    uint32_t *factors, *zeroed; /* by step - 1; those that are asked for, and one at a time */
    uint32_t steps; /* so many there were when it began */
    bool changed;
    uint64_t zeros, zeros_done; /* of the greatest steps; UINT64_MAX: none is asked for */
    int64_t changed_ns;
    enum stage stage;
    bool begun; /* the stage */
    bool pieces; /* only the path itself is asked for */
    bool kinds; /* by category */
    struct categories categories;
};

/* ---- what is asked ---- */

static uint64_t number_of(const struct table_request *request, const char *key, uint64_t otherwise)
{
    const char *value = table_option(request, key);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

static uint32_t *all_as_they_were(uint32_t count)
{
    uint32_t *factors = memory_resized(NULL, count, sizeof *factors);
    for (uint32_t i = 0; i < count; i++)
        factors[i] = GRAPH_WHOLE;
    return factors;
}

/* "CODE=MILLIONTHS"; false: it is none. */
static bool factor(struct work *w, const char *value)
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

static bool options(struct work *w, char **problem)
{
    const struct table_request *r = w->view->request;
    for (uint32_t i = 0; i < r->option_count; i++)
        if (strcmp(r->options[i].key, "factor") == 0 && !factor(w, r->options[i].value)) {
            *problem = memory_printed("there is no step \"%s\"", r->options[i].value);
            return false;
        }
    w->change = (struct graph_change){.factors = w->factors,
                                      .factor_count = w->factors ? w->steps : 0,
                                      .no_latency = table_option(r, "no-latency") != NULL,
                                      .spans = table_option(r, "min") ? w->view->run->spans : NULL,
                                      .free_line = (uint32_t)number_of(r, "free", 0)};
    w->changed =
        w->factors || w->change.no_latency || w->change.free_line || table_option(r, "min");
    w->zeros = number_of(r, "zeros", UINT64_MAX);
    if (table_option(r, "zeros") && w->zeros == 0)
        w->zeros = w->view->measured->steps.count;
    return true;
}

/* From which event it goes back: that of --past-of or --to; else the last end there is. */
static void aim(struct work *w)
{
    const struct table_view *view = w->view;
    const struct table_request *r = view->request;
    struct ref at = r->past_of.line              ? r->past_of
                    : r->to.is == TABLE_AT_EVENT ? r->to.event
                                                 : (struct ref){0};
    uint64_t position = at.line ? order_position(view->run->order, at) : NO_POSITION;
    uint32_t thread = position == NO_POSITION ? 0 : order_event(view->run->order, position).thread;
    w->basis = basis_take(view, at);
    if (w->basis->whole || (w->pieces && w->basis->followed)) {
        w->stage = w->pieces ? DONE : CHANGE;
        return;
    }
    w->basis->followed = false;
    path_begin(&w->basis->path, view->measured, thread,
               thread ? times_fitted(view->run, position) : view->to_ns);
    if (thread || view->to_ns != INT64_MAX) {
        w->basis->until = w->basis->path.at;
        w->basis->until_ns = w->basis->path.at_ns;
    }
}

static void *begin(const struct table_view *view, char **problem)
{
    struct work *w = memory_zeroed(1, sizeof *w);
    w->view = view;
    w->steps = view->measured->steps.count;
    w->pieces = strcmp(view->request->by, "piece") == 0;
    w->kinds = strcmp(view->request->by, "category") == 0;
    if (!categories_begin(&w->categories, view, problem) || !options(w, problem)) {
        categories_free(&w->categories);
        free(w->factors);
        free(w);
        return NULL;
    }
    aim(w);
    return w;
}

static void drop(void *p)
{
    struct work *w = p;
    basis_give(w->view->run, w->basis);
    free(w->factors);
    free(w->zeroed);
    categories_free(&w->categories);
    free(w);
}

/* ---- working ---- */

/* A forward pass with a change. */
static bool pass(struct work *w, struct graph_change change, uint64_t budget, int64_t *length)
{
    if (!w->begun)
        graph_forward(w->basis->graph, change);
    w->begun = true;
    if (!graph_forward_step(w->basis->graph, budget))
        return false;
    *length = graph_length(w->basis->graph);
    return true;
}

static bool backward(struct work *w, uint64_t budget)
{
    if (!w->begun)
        graph_backward(w->basis->graph);
    w->begun = true;
    return graph_backward_step(w->basis->graph, budget);
}

static bool span(struct work *w, uint64_t budget)
{
    return w->basis->whole =
               pass(w, (struct graph_change){.no_latency = true}, budget, &w->basis->span_ns);
}

/* The greatest of the steps, one after the other, at nothing. */
static bool zero(struct work *w, uint64_t budget)
{
    if (w->zeros == UINT64_MAX || w->zeros_done == w->zeros ||
        w->zeros_done == w->basis->sums.count)
        return true;
    struct step_sum *sum = &w->basis->sums.items[w->zeros_done];
    if (!sum->step || sum->step > w->steps) { /* no step: another one in its place */
        w->zeros_done++;
        w->zeros++;
        return false;
    }
    if (!w->zeroed)
        w->zeroed = all_as_they_were(w->steps);
    uint32_t *at = &w->zeroed[sum->step - 1];
    int64_t length;
    *at = 0;
    bool done = pass(w, (struct graph_change){.factors = w->zeroed, .factor_count = w->steps},
                     budget, &length);
    *at = GRAPH_WHOLE;
    if (done) {
        sum->zero_ns = w->basis->whole_ns - length;
        sum->has_zero = true;
        w->zeros_done++;
        w->begun = false;
    }
    return false;
}

static bool follow(struct work *w, uint64_t budget)
{
    if (!path_step(&w->basis->path, budget))
        return false;
    if (w->pieces)
        return w->basis->followed = true;
    w->basis->graph = graph_new(w->view->measured);
    if (w->basis->until)
        graph_until(w->basis->graph, w->basis->until - 1, w->basis->until_ns);
    return true;
}

static bool stage(struct work *w, uint64_t budget)
{
    struct basis *b = w->basis;
    switch (w->stage) {
    case FOLLOW:
        return follow(w, budget);
    case SUM:
        return step_sums_make(&b->sums, w->view, &b->path, b->graph, budget);
    case PREPARE:
        return graph_prepare_step(b->graph, budget);
    case FORWARD:
        return pass(w, (struct graph_change){0}, budget, &b->whole_ns);
    case BACKWARD:
        return backward(w, budget);
    case SLACKS:
        return step_sums_slack(&b->sums, w->view, b->graph, budget);
    case SPAN:
        return span(w, budget);
    case CHANGE:
        return !w->changed || pass(w, w->change, budget, &w->changed_ns);
    case ZERO:
        return zero(w, budget);
    case DONE:
        break;
    }
    return true;
}

static bool step(void *p, uint64_t *budget)
{
    struct work *w = p;
    if (w->stage < DONE && stage(w, *budget)) {
        w->stage = w->pieces ? DONE : w->stage + 1;
        w->begun = false;
    }
    return w->stage == DONE && (!w->kinds || categories_split(&w->categories, budget));
}

/* ---- filling ---- */

enum column {
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

static void add_columns(const struct work *w, struct shown_table *t, const char *first,
                        enum table_kind kind)
{
    table_add_column(t, first, first, kind, NULL);
    table_add_column(t, "path_ns", "on the path", TABLE_NS, NULL);
    table_add_column(t, "share", "of it", TABLE_SHARE, NULL);
    table_add_column(t, "total_ns", "in all", TABLE_NS, NULL);
    table_add_column(t, "imbalance_ns", "imbalance", TABLE_NS, NULL);
    table_add_column(t, "slack_ns", "slack", TABLE_NS, NULL);
    table_add_column(t, "zero_ns", "won at zero", TABLE_NS, "order: the recorded one is kept");
    if (w->zeros == UINT64_MAX)
        table_detail(t);
    static const struct {
        const char *name, *title;
        enum table_kind kind;
    } totals[] = {{"code", "code", TABLE_COUNT},       {"length_ns", "length", TABLE_NS},
                  {"work_ns", "work", TABLE_NS},       {"span_ns", "span", TABLE_NS},
                  {"bound_n", "bound", TABLE_SHARE},   {"hops", "hops", TABLE_COUNT},
                  {"if_ns", "with changes", TABLE_NS}, {"of", "category", TABLE_TEXT}};
    for (size_t i = 0; i < sizeof totals / sizeof *totals; i++) {
        table_add_column(t, totals[i].name, totals[i].title, totals[i].kind, NULL);
        table_detail(t);
    }
}

static double share_of(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

/* The graph is of what was before the range, too. */
static bool from_later(const struct work *w) { return w->view->from_ns != INT64_MIN; }

static void fill_steps(const struct work *w, struct shown_table *t)
{
    for (uint32_t i = 0; i < w->basis->sums.count; i++) {
        const struct step_sum *s = &w->basis->sums.items[i];
        struct table_cell *cells = table_add_row(t, 0, table_event(w->view, s->longest));
        if (!cells)
            return;
        cells[WHAT] =
            s->step ? table_step(w->view, s->step) : cell_text(path_word((enum piece_is)s->is));
        cells[PATH_NS] = cell_number(s->path_ns);
        cells[SHARE] = cell_real(share_of(s->path_ns, basis_length(w->basis)));
        cells[TOTAL_NS] = cell_number(s->total_ns);
        cells[IMBALANCE] = cell_number(step_sums_imbalance(&w->basis->sums, s));
        if (s->slack_ns != INT64_MAX)
            cells[SLACK] = cell_number(s->slack_ns);
        if (s->has_zero)
            cells[ZERO_NS] = cell_number(s->zero_ns);
        cells[CODE] = cell_number(s->step);
        cells[CATEGORY] = categories_cell(categories_step(&w->categories, s->step));
        table_row_line(t, s->thread);
    }
}

/* Does a piece lie between the times that are asked for? */
static bool is_between(const struct work *w, const struct path_piece *p)
{
    const char *begin = table_option(w->view->request, "begin"),
               *end = table_option(w->view->request, "end");
    return (!begin || p->to_ns >= strtoll(begin, NULL, 10)) &&
           (!end || p->from_ns <= strtoll(end, NULL, 10));
}

/* by = "piece": the path itself, thread after thread. */
static void fill_pieces(const struct work *w, struct shown_table *t)
{
    table_add_column(t, "thread", "thread", TABLE_LINE, NULL);
    table_add_column(t, "path_ns", "on the path", TABLE_NS, NULL);
    table_add_column(t, "step", "step", TABLE_STEP, NULL);
    table_add_column(t, "from_ns", "from", TABLE_NS, NULL);
    table_add_column(t, "is", "is", TABLE_TEXT, NULL);
    table_add_column(t, "until", "until", TABLE_EVENT, NULL);
    const struct table_request *r = w->view->request;
    bool first = r->top && !*r->sort; /* no more of them will be told */
    for (size_t i = 0; i < w->basis->path.count && !(first && t->row_count == r->top); i++) {
        const struct path_piece *p = &w->basis->path.pieces[i];
        if (!is_between(w, p))
            continue;
        struct ref until = table_event(w->view, p->position);
        int64_t from = p->from_ns > w->view->from_ns ? p->from_ns : w->view->from_ns;
        struct table_cell *cells = p->to_ns > from ? table_add_row(t, 0, until) : NULL;
        if (!cells)
            continue;
        cells[0] = cell_line(p->thread);
        cells[1] = cell_number(p->to_ns - from);
        cells[2] = table_step(w->view, p->step);
        cells[3] = cell_number(from);
        cells[4] = cell_text(path_word((enum piece_is)p->is));
        cells[5] = cell_event(until);
        table_row_line(t, p->thread);
    }
}

static int64_t within(const struct work *w, const struct path_piece *p)
{
    int64_t from = p->from_ns > w->view->from_ns ? p->from_ns : w->view->from_ns;
    return p->to_ns > from ? p->to_ns - from : 0;
}

/* By thread: how long it was on the path; the caller frees it. */
static int64_t *sum_threads(const struct work *w)
{
    const struct intervals *all = w->view->measured;
    const struct path *path = &w->basis->path;
    int64_t *on = memory_zeroed(all->thread_count + 1, sizeof *on);
    for (size_t i = 0; i < path->count; i++) {
        const struct course_of *c = intervals_of(all, path->pieces[i].thread);
        if (c)
            on[c - all->threads] += within(w, &path->pieces[i]);
    }
    return on;
}

static void fill_threads(const struct work *w, struct shown_table *t)
{
    int64_t *on = sum_threads(w);
    for (uint32_t i = 0; i < w->basis->sums.of; i++) {
        uint32_t line = w->view->measured->threads[i].thread;
        struct table_cell *cells = on[i] ? table_add_row(t, 0, (struct ref){0}) : NULL;
        if (!cells)
            continue;
        cells[WHAT] = cell_line(line);
        cells[PATH_NS] = cell_number(on[i]);
        cells[SHARE] = cell_real(share_of(on[i], basis_length(w->basis)));
        cells[TOTAL_NS] = cell_number(w->basis->sums.threads[i]);
        table_row_line(t, line);
    }
    free(on);
}

static void fill_total(const struct work *w, struct shown_table *t)
{
    struct table_cell *cells = table_make_total(t);
    uint64_t cpus = number_of(w->view->request, "cpus", 0);
    int64_t work = w->basis->sums.work_ns, least = w->basis->span_ns;
    if (cpus && work / (int64_t)cpus > least)
        least = work / (int64_t)cpus;
    cells[PATH_NS] = cells[LENGTH] = cell_number(basis_length(w->basis));
    cells[TOTAL_NS] = cells[WORK] = cell_number(work);
    if (!from_later(w))
        cells[SPAN_NS] = cell_number(w->basis->span_ns);
    if (least > 0 && !from_later(w))
        cells[BOUND] = cell_real((double)work / (double)least);
    cells[HOPS] = cell_number((int64_t)w->basis->path.hops);
    if (w->changed)
        cells[IF_NS] = cell_number(w->changed_ns);
}

/* Where it ends too early, as what was before is not there any more. */
static void note_begin(const struct work *w, struct shown_table *t)
{
    const struct path *path = &w->basis->path;
    const struct course_of *c =
        path->count ? intervals_of(w->view->measured, path->pieces[0].thread) : NULL;
    if (c && table_unknown_before(w->view, c))
        table_add_note(t,
                       "it leads back to %.3f ms: what its thread did before that, or waited "
                       "for, is forgotten",
                       (double)path->pieces[0].from_ns / 1e6);
}

/* What --min takes away: its note says how much there was of it. */
static void note_processors(const struct work *w, struct shown_table *t)
{
    static const char *const sources[SPANS_SOURCES] = {"", "samples of processor time",
                                                       "processor clocks at events",
                                                       "switch records of the kernel"};
    const struct intervals *all = w->view->measured;
    int64_t delay = 0;
    unsigned source = SPANS_ORDER;
    for (uint32_t i = 0; i < all->thread_count && w->change.spans; i++) {
        struct states sums;
        states_sum(&w->view->lives, &all->threads[i], w->view->from_ns,
                   table_until(w->view, &all->threads[i]), &sums);
        delay += sums.of[STATE_READY].total_ns - sums.let_go_ns;
        unsigned is = spans_best(w->change.spans, all->threads[i].thread, SPANS_ORDER);
        source = is > source ? is : source;
    }
    if (source == SPANS_ORDER)
        table_add_note(t,
                       "it is not known when threads had no processor: all that they ran counts");
    else
        table_add_note(t,
                       "threads that could run had no processor for %.3f ms in all "
                       "(multiprogramming, by %s)",
                       (double)delay / 1e6, sources[source]);
}

static void add_notes(const struct work *w, struct shown_table *t)
{
    note_begin(w, t);
    if (w->basis->span_ns <= 0)
        return;
    if (from_later(w))
        table_add_note(t, "slack, and what would be, are of all from the run's begin on");
    else
        table_add_note(t,
                       "work %.3f ms, the longest chain of it %.3f ms: no number of processors "
                       "makes it more than %.2f times as fast as one",
                       (double)w->basis->sums.work_ns / 1e6, (double)w->basis->span_ns / 1e6,
                       share_of(w->basis->sums.work_ns, w->basis->span_ns));
    if (w->changed)
        table_add_note(t, "with these changes %.3f ms instead of %.3f ms (%.1f %% less)",
                       (double)w->changed_ns / 1e6, (double)w->basis->whole_ns / 1e6,
                       100 * share_of(w->basis->whole_ns - w->changed_ns, w->basis->whole_ns));
    if (table_option(w->view->request, "min"))
        note_processors(w, t);
    if (w->changed || w->zeros != UINT64_MAX)
        table_add_note(t, "what would be keeps the recorded order of locks: an estimate, for the "
                          "changed program may take another");
    if (graph_left_out(w->basis->graph))
        table_add_note(t, "%llu edges between events of one moment are left out",
                       (unsigned long long)graph_left_out(w->basis->graph));
}

static void fill(void *p, const struct table_view *view, struct shown_table *t)
{
    struct work *w = p;
    t->title = memory_copied("critical path");
    if (w->pieces) {
        fill_pieces(w, t);
        table_arrange(t, view->request, NULL);
        return;
    }
    bool threads = strcmp(view->request->by, "thread") == 0;
    if (w->kinds)
        add_columns(w, t, "category", TABLE_TEXT);
    else
        add_columns(w, t, threads ? "thread" : "step", threads ? TABLE_LINE : TABLE_STEP);
    if (threads)
        fill_threads(w, t);
    else if (w->kinds)
        pathcategories_fill(&w->categories, &w->basis->path, t);
    else
        fill_steps(w, t);
    fill_total(w, t);
    add_notes(w, t);
    table_arrange(t, view->request, threads || w->kinds ? "path_ns" : NULL);
}

static const char *const by[] = {"step", "thread", "piece", "category", NULL};

const struct preset preset_path = {
    .what = "path", .by = by, .begin = begin, .step = step, .fill = fill, .free = drop};
