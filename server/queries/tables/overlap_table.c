/* Table of overlap: which scopes were open on other threads while a given one was, and for how
 * long; and for how long each was open at all.  Computed from call records
 * (server/timing/scope_overlap.h): exact.  Without these the elapsed time of each is given between
 * bounds.  Option: "with" = "PROCESS:ADDRESS", a place in the scope; without it only the elapsed
 * times. */
#include "base/alloc.h"
#include "server/queries/tables/entries_table.h"
#include "server/queries/tables/scope_numbers.h"
#include "server/queries/tables/table_query.h"
#include "server/timing/call_profile.h"
#include "server/timing/scope_overlap.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- bounds of the elapsed time of scopes, if only sums of calls are known ---- */

/* A scope was open for at least as long as the thread that had it open longest, and at most as long
 * as all threads together, or the run. */
struct time_bounds {
    struct scope_numbers scopes;
    struct time_bound { /* by scope number */
        uint64_t calls;
        int64_t longest_ns, all_ns; /* longest of one thread; sum over all threads */
        uint32_t threads;
        bool timed;
    } *items;
    size_t room;
    uint32_t next; /* index of the next thread to process */
};

enum bounds_column {
    BOUNDS_SCOPE,
    BOUNDS_CALLS,
    BOUNDS_MIN,
    BOUNDS_MAX,
    BOUNDS_THREAD_NS,
    BOUNDS_THREADS
};

#define BOUNDS_SOURCE "instrumented calls"
static const struct column_definition time_bounds_columns[] = {
    [BOUNDS_SCOPE] = {"function", .kind = TABLE_PLACE, .source = BOUNDS_SOURCE},
    [BOUNDS_CALLS] = {"calls", .kind = TABLE_COUNT, .source = BOUNDS_SOURCE},
    [BOUNDS_MIN] = {"elapsed_min_ns", "elapsed (lower bound)", .kind = TABLE_NS,
                    .source = BOUNDS_SOURCE},
    [BOUNDS_MAX] = {"elapsed_max_ns", "upper bound", .kind = TABLE_NS, .source = BOUNDS_SOURCE},
    [BOUNDS_THREAD_NS] = {"thread_ns", "summed over threads", .kind = TABLE_NS,
                          .source = BOUNDS_SOURCE},
    [BOUNDS_THREADS] = {"thread_count", "in threads", .kind = TABLE_COUNT, .source = BOUNDS_SOURCE},
};

static void time_bounds_add_thread(struct time_bounds *b, const struct table_view *view,
                                   const struct call_context_thread *thread)
{
    struct call_profile calls = {0};
    uint32_t *scopes = scope_numbers_of(&b->scopes, view->run, thread);
    call_profile_add(&calls, thread, scopes);
    b->items = array_reserve_zeroed(b->items, &b->room, b->scopes.count + 1, sizeof *b->items);
    for (size_t i = 1; i < calls.function_count; i++) {
        const struct call_sums *s = &calls.functions[i].sums;
        struct time_bound *to = &b->items[calls.functions[i].scope];
        to->calls += s->calls;
        to->all_ns += s->total_ns;
        to->longest_ns = s->total_ns > to->longest_ns ? s->total_ns : to->longest_ns;
        to->threads += s->calls > 0;
        to->timed |= s->timed && s->total;
    }
    call_profile_free(&calls);
    free(scopes);
}

static void time_bounds_add_columns(struct result_table *t)
{
    table_add_columns(t, time_bounds_columns,
                      sizeof time_bounds_columns / sizeof *time_bounds_columns);
    for (uint32_t i = 0; i < t->column_count; i++)
        t->columns[i].exact = i != BOUNDS_MIN && i != BOUNDS_MAX;
}

static void time_bounds_add_row(const struct time_bounds *b, const struct table_view *view,
                                uint32_t scope, struct result_table *t)
{
    const struct time_bound *is = &b->items[scope];
    struct table_cell *cells = is->calls ? table_add_row(t, 0, (struct event_id){0}) : NULL;
    int64_t run_ns = table_length(view);
    if (!cells)
        return;
    cells[BOUNDS_SCOPE] = scope_numbers_cell(&b->scopes, view->run, scope);
    cells[BOUNDS_CALLS] = table_cell_number((int64_t)is->calls);
    cells[BOUNDS_THREADS] = table_cell_number(is->threads);
    if (!is->timed)
        return;
    int64_t most_ns = is->all_ns > run_ns && run_ns >= is->longest_ns ? run_ns : is->all_ns;
    cells[BOUNDS_MIN] = table_cell_number(is->longest_ns);
    cells[BOUNDS_MAX] = table_cell_number(most_ns);
    cells[BOUNDS_THREAD_NS] = table_cell_number(is->all_ns);
}

/* Processes some threads; `bounds` must be zero-initialized first.  Returns true when all are
 * processed. */
static bool time_bounds_step(struct time_bounds *b, const struct table_view *view, uint64_t *budget)
{
    const struct call_contexts *all = &view->run->contexts;
    for (; b->next < all->count; b->next++) {
        const struct call_context_thread *thread = &all->threads[b->next];
        if (!*budget)
            return false;
        *budget -= *budget < thread->count + 1 ? *budget : thread->count + 1;
        if (thread->count > 1 && table_wants(view, thread->line))
            time_bounds_add_thread(b, view, thread);
    }
    return true;
}

/* Adds columns and rows of the table; call after time_bounds_step() returned true. */
static void time_bounds_fill(const struct time_bounds *b, const struct table_view *view,
                             struct result_table *t)
{
    t->title = xstrdup("elapsed time per function: bounds");
    time_bounds_add_columns(t);
    for (uint32_t i = 1; i < b->room && i <= b->scopes.count; i++)
        time_bounds_add_row(b, view, i, t);
    table_add_note(t,
                   "lower bound: the longest single thread; upper bound: the sum over threads, or "
                   "the run; exact with POET_MEASURE=calls=every");
    table_arrange(t, view->request, "elapsed_min_ns");
}

static void time_bounds_free(struct time_bounds *b)
{
    free(b->items);
    scope_numbers_free(&b->scopes);
    *b = (struct time_bounds){0};
}

/* ---- the table ---- */

enum overlap_column { SCOPE, CALLS, TOGETHER, SHARE, ELAPSED, THREADS, MEAN };

struct overlap_work {
    const struct table_view *view;
    struct entry_records entered;
    struct scope_overlap overlap;
    struct time_bounds bounds;
    bool has_place, begun;
    struct table_place place;
};

static void *overlap_table_begin(const struct table_view *view, struct error *error)
{
    struct entry_records entered;
    const char *with = table_option(view->request, "with");
    unsigned process = 0;
    unsigned long long address = 0;
    char more;
    if (with && sscanf(with, "%u:%llu%c", &process, &address, &more) != 2) {
        error_set(error, "with %s: a place is needed", with);
        return NULL;
    }
    if (!entry_records_begin(&entered, view, error))
        return NULL;
    struct overlap_work *w = xcalloc(1, sizeof *w);
    w->view = view;
    w->entered = entered;
    w->has_place = with != NULL;
    w->place = (struct table_place){process, address};
    return w;
}

static void overlap_table_read_entries(struct overlap_work *w)
{
    const struct entry_records *e = &w->entered;
    entry_records_read(&w->entered, w->view);
    w->overlap =
        (struct scope_overlap){.from_ns = e->from_ns,
                               .to_ns = e->to_ns,
                               .scopes = (uint32_t)e->scopes.count + 1,
                               .sums = xcalloc(e->scopes.count + 1, sizeof *w->overlap.sums)};
    if (w->has_place)
        w->overlap.with = scope_numbers_find(&e->scopes, e->run, w->place);
    for (uint32_t i = 0; i < e->count; i++)
        scope_overlap_add(&w->overlap, e->threads[i].entries, e->threads[i].scope_of,
                          e->threads[i].context_count);
    w->begun = true;
}

/* Returns whether there are no call records, but sums of calls, and these suffice for the
 * request. */
static bool has_sums_alone(const struct overlap_work *w, const struct table_view *view)
{
    const struct call_contexts *all = &view->run->contexts;
    bool any = false;
    for (uint32_t i = 0; i < all->count; i++)
        any |= all->threads[i].count > 1;
    return any && !w->has_place && !w->entered.count && view->from_ns == INT64_MIN &&
           view->to_ns == INT64_MAX;
}

static bool overlap_table_step(void *work, uint64_t *budget)
{
    struct overlap_work *w = work;
    if (!w->begun && !entry_records_are_ready(&w->entered))
        return false;
    if (!w->begun)
        overlap_table_read_entries(w);
    if (has_sums_alone(w, w->view))
        return time_bounds_step(&w->bounds, w->view, budget);
    return scope_overlap_step(&w->overlap, budget);
}

/* ---- rows ---- */

static void add_columns(struct result_table *t, bool with)
{
    static const char source[] = "call records";
    const struct column_definition columns[] = {
        [SCOPE] = {"function", .kind = TABLE_PLACE, .source = source},
        [CALLS] = {"calls", .kind = TABLE_COUNT, .source = source},
        [TOGETHER] = {"overlap_ns", .kind = TABLE_NS, .source = source, .detail = !with},
        [SHARE] = {"overlap_share", "%", .kind = TABLE_SHARE, .source = source, .detail = !with},
        [ELAPSED] = {"elapsed_ns", .kind = TABLE_NS, .source = source},
        [THREADS] = {"thread_ns", "summed over threads", .kind = TABLE_NS, .source = source},
        [MEAN] = {"parallelism", .kind = TABLE_COUNT, .source = source},
    };
    table_add_columns(t, columns, sizeof columns / sizeof *columns);
}

static void add_row(const struct overlap_work *w, uint32_t scope, struct result_table *t)
{
    const struct scope_overlap_sums *s = &w->overlap.sums[scope];
    const struct scope_overlap_sums *with = &w->overlap.sums[w->overlap.with];
    struct table_cell *cells = s->calls ? table_add_row(t, 0, (struct event_id){0}) : NULL;
    if (!cells)
        return;
    cells[SCOPE] = scope_numbers_cell(&w->entered.scopes, w->entered.run, scope);
    cells[CALLS] = table_cell_number((int64_t)s->calls);
    if (w->overlap.with) {
        cells[TOGETHER] = table_cell_number(s->together_ns);
        if (with->elapsed_ns)
            cells[SHARE] = table_cell_real((double)s->together_ns / (double)with->elapsed_ns);
    }
    cells[ELAPSED] = table_cell_number(s->elapsed_ns);
    cells[THREADS] = table_cell_number(s->thread_ns);
    if (s->elapsed_ns)
        cells[MEAN] = table_cell_real((double)s->thread_ns / (double)s->elapsed_ns);
}

static void overlap_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct overlap_work *w = work;
    if (has_sums_alone(w, view)) {
        time_bounds_fill(&w->bounds, view, t);
        return;
    }
    t->title = xstrdup(w->overlap.with ? "concurrent functions" : "elapsed time per function");
    add_columns(t, w->overlap.with);
    for (uint32_t i = 1; i < w->overlap.scopes; i++)
        add_row(w, i, t);
    entry_records_notes(&w->entered, t);
    if (w->has_place && !w->overlap.with && w->entered.count)
        table_add_note(t, "no calls of the function in this range");
    table_arrange(t, view->request, w->overlap.with ? "overlap_ns" : "elapsed_ns");
}

static void free_work(void *work)
{
    struct overlap_work *w = work;
    scope_overlap_free(&w->overlap);
    time_bounds_free(&w->bounds);
    entry_records_free(&w->entered);
    free(w);
}

static const char *const overlap_table_groupings[] = {"function", NULL};

const struct table_preset preset_overlap = {.what = "overlap",
                                            .by = overlap_table_groupings,
                                            .begin = overlap_table_begin,
                                            .step = overlap_table_step,
                                            .fill = overlap_table_fill,
                                            .free = free_work};
