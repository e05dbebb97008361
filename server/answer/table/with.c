/* The table of who ran with whom: which scopes were open while one of them was, on other threads, and for how long; for
 * how long each was open at all.  Of when calls began and ended (server/measure/overlap.h): exact.  Where that was not
 * written down, how long each was open is told between bounds (bounds.h).
 *
 * Option: "with" = "PROCESS:ADDRESS", a place in the scope; without it only how long each was open. */
#include "server/answer/table/bounds.h"
#include "server/answer/table/entered.h"
#include "server/measure/overlap.h"
#include "memory/memory.h"

#include <stdio.h>
#include <stdlib.h>

enum column { SCOPE, CALLS, TOGETHER, SHARE, ELAPSED, THREADS, MEAN };

struct work {
    const struct table_view *view;
    struct entered entered;
    struct overlap overlap;
    struct bounds bounds;
    bool has_place, begun;
    struct table_place place;
};

static void *begin(const struct table_view *view, char **problem)
{
    struct entered entered;
    const char *with = table_option(view->request, "with");
    unsigned process = 0;
    unsigned long long address = 0;
    char more;
    if (with && sscanf(with, "%u:%llu%c", &process, &address, &more) != 2) {
        *problem = memory_printed("with %s: a place is needed", with);
        return NULL;
    }
    if (!entered_begin(&entered, view, problem))
        return NULL;
    struct work *w = memory_zeroed(1, sizeof *w);
    w->view = view;
    w->entered = entered;
    w->has_place = with != NULL;
    w->place = (struct table_place){process, address};
    return w;
}

static void look(struct work *w)
{
    const struct entered *e = &w->entered;
    entered_look(&w->entered, w->view);
    w->overlap =
        (struct overlap){.from_ns = e->from_ns,
                         .to_ns = e->to_ns,
                         .scopes = (uint32_t)e->scopes.count + 1,
                         .sums = memory_zeroed(e->scopes.count + 1, sizeof *w->overlap.sums)};
    if (w->has_place)
        w->overlap.with = scopes_find(&e->scopes, e->run, w->place);
    for (uint32_t i = 0; i < e->count; i++)
        overlap_add(&w->overlap, e->threads[i].entries, e->threads[i].scope_of,
                    e->threads[i].context_count);
    w->begun = true;
}

/* Nobody wrote down when calls began and ended, and sums of all of the run are asked for: those there may be. */
static bool has_sums_alone(const struct work *w, const struct table_view *view)
{
    const struct contexts *all = &view->run->contexts;
    bool any = false;
    for (uint32_t i = 0; i < all->count; i++)
        any |= all->threads[i].count > 1;
    return any && !w->has_place && !w->entered.count && view->from_ns == INT64_MIN &&
           view->to_ns == INT64_MAX;
}

static bool step(void *work, uint64_t *budget)
{
    struct work *w = work;
    if (!w->begun && !entered_is_there(&w->entered))
        return false;
    if (!w->begun)
        look(w);
    if (has_sums_alone(w, w->view))
        return bounds_step(&w->bounds, w->view, budget);
    return overlap_go_on(&w->overlap, budget);
}

/* ---- rows ---- */

static void add_columns(struct shown_table *t, bool with)
{
    static const char source[] = "calls, as they began and ended";
    table_add_column(t, "scope", "scope", TABLE_PLACE, source);
    table_add_column(t, "calls", "calls", TABLE_COUNT, source);
    table_add_column(t, "together_ns", "together", TABLE_NS, source);
    if (!with)
        table_detail(t);
    table_add_column(t, "together_share", "%", TABLE_SHARE, source);
    if (!with)
        table_detail(t);
    table_add_column(t, "elapsed_ns", "elapsed", TABLE_NS, source);
    table_add_column(t, "thread_ns", "threads", TABLE_NS, source);
    table_add_column(t, "parallel", "parallel", TABLE_SHARE, source);
    t->columns[t->column_count - 1].kind = TABLE_COUNT;
}

static void add_row(const struct work *w, uint32_t scope, struct shown_table *t)
{
    const struct overlap_sums *s = &w->overlap.sums[scope];
    const struct overlap_sums *with = &w->overlap.sums[w->overlap.with];
    struct table_cell *cells = s->calls ? table_add_row(t, 0, (struct ref){0}) : NULL;
    if (!cells)
        return;
    cells[SCOPE] = scopes_cell(&w->entered.scopes, w->entered.run, scope);
    cells[CALLS] = cell_number((int64_t)s->calls);
    if (w->overlap.with) {
        cells[TOGETHER] = cell_number(s->together_ns);
        if (with->elapsed_ns)
            cells[SHARE] = cell_real((double)s->together_ns / (double)with->elapsed_ns);
    }
    cells[ELAPSED] = cell_number(s->elapsed_ns);
    cells[THREADS] = cell_number(s->thread_ns);
    if (s->elapsed_ns)
        cells[MEAN] = cell_real((double)s->thread_ns / (double)s->elapsed_ns);
}

static void fill(void *work, const struct table_view *view, struct shown_table *t)
{
    struct work *w = work;
    if (has_sums_alone(w, view)) {
        bounds_fill(&w->bounds, view, t);
        return;
    }
    t->title = memory_copied(w->overlap.with ? "calls at the same time" : "calls, how long in all");
    add_columns(t, w->overlap.with);
    for (uint32_t i = 1; i < w->overlap.scopes; i++)
        add_row(w, i, t);
    entered_notes(&w->entered, t);
    if (w->has_place && !w->overlap.with && w->entered.count)
        table_add_note(t, "it was not called in this range");
    table_arrange(t, view->request, w->overlap.with ? "together_ns" : "elapsed_ns");
}

static void free_work(void *work)
{
    struct work *w = work;
    overlap_free(&w->overlap);
    bounds_free(&w->bounds);
    entered_free(&w->entered);
    free(w);
}

static const char *const by[] = {"function", NULL};

const struct preset preset_with = {
    .what = "with", .by = by, .begin = begin, .step = step, .fill = fill, .free = free_work};
