/* Table of overlap: which scopes were open on other threads while a given one was, and for how
 * long; and for how long each was open at all.  Computed from call records
 * (server/timing/scope_overlap.h): exact.  Without these the elapsed time of each is given between
 * bounds (time_bounds.h).  Option: "with" = "PROCESS:ADDRESS", a place in the scope; without it
 * only the elapsed times. */
#include "server/queries/tables/time_bounds.h"
#include "server/queries/tables/entry_records.h"
#include "server/timing/scope_overlap.h"
#include "base/alloc.h"

#include <stdio.h>
#include <stdlib.h>

enum overlap_column { SCOPE, CALLS, TOGETHER, SHARE, ELAPSED, THREADS, MEAN };

struct overlap_work {
    const struct table_view *view;
    struct entry_records entered;
    struct scope_overlap overlap;
    struct time_bounds bounds;
    bool has_place, begun;
    struct table_place place;
};

static void *overlap_table_begin(const struct table_view *view, char **problem)
{
    struct entry_records entered;
    const char *with = table_option(view->request, "with");
    unsigned process = 0;
    unsigned long long address = 0;
    char more;
    if (with && sscanf(with, "%u:%llu%c", &process, &address, &more) != 2) {
        *problem = xasprintf("with %s: a place is needed", with);
        return NULL;
    }
    if (!entry_records_begin(&entered, view, problem))
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
        [SCOPE] = {"function", "function", .kind = TABLE_PLACE, .source = source},
        [CALLS] = {"calls", "calls", .kind = TABLE_COUNT, .source = source},
        [TOGETHER] = {"overlap_ns", "overlap", .kind = TABLE_NS, .source = source, .detail = !with},
        [SHARE] = {"overlap_share", "%", .kind = TABLE_SHARE, .source = source, .detail = !with},
        [ELAPSED] = {"elapsed_ns", "elapsed", .kind = TABLE_NS, .source = source},
        [THREADS] = {"thread_ns", "summed over threads", .kind = TABLE_NS, .source = source},
        [MEAN] = {"parallelism", "parallelism", .kind = TABLE_COUNT, .source = source},
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

const struct table_preset preset_with = {.what = "with",
                                         .by = overlap_table_groupings,
                                         .begin = overlap_table_begin,
                                         .step = overlap_table_step,
                                         .fill = overlap_table_fill,
                                         .free = free_work};
