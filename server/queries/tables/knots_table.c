/* Table of knots (bottleneck groups), threads that delay each other and thereby all others; below
 * each thread, those that ran while it waited. */
#include "base/alloc.h"
#include "server/queries/tables/attribution_cells.h"
#include "server/queries/attribution_cache.h"
#include "server/analysis/wait_knots.h"

#include <stdlib.h>

enum knots_column { KNOT, THREAD, HELD, WAITED, RUNNER, SHARE };

static const struct column_definition knots_table_columns[] = {
    [KNOT] = {"knot", .kind = TABLE_COUNT},
    [THREAD] = {"thread", .kind = TABLE_LINE},
    [HELD] = {"delayed_others_ns", "others waited", .kind = TABLE_NS},
    [WAITED] = {"waited_ns", .kind = TABLE_NS},
    [RUNNER] = {"runner", "while running", .kind = TABLE_LINE},
    [SHARE] = {"share", "% of its waits", .kind = TABLE_SHARE},
};

struct knots_work {
    struct attribution_cells causing;
    struct wait_knots knots;
};

static void *knots_table_begin(const struct table_view *view, struct error *error)
{
    struct knots_work *w = xcalloc(1, sizeof *w);
    if (!attribution_cells_begin(&w->causing, view, error)) {
        attribution_cells_free(&w->causing);
        free(w);
        return NULL;
    }
    w->knots = (struct wait_knots){.why = attribution_cache_get(view->run, w->causing.since),
                                   .from_ns = w->causing.from_ns,
                                   .until_ns = w->causing.until_ns,
                                   .until_count = w->causing.until_count};
    return w;
}

static bool knots_table_step(void *work, uint64_t *budget)
{
    struct knots_work *w = work;
    if (!attribution_cells_prepare(&w->causing, budget))
        return false;
    size_t before = w->knots.done;
    bool whole = wait_knots_step(&w->knots, *budget / 8 + 1);
    uint64_t spent = 8 * (w->knots.done - before);
    *budget = spent < *budget ? *budget - spent : 0;
    return whole;
}

/* Adds the threads that a thread waited for, the longest first. */
static void knots_table_add_awaited(const struct wait_knots *k, const struct knot_member *member,
                                    struct result_table *t)
{
    uintptr_t found = 0;
    for (uint32_t i = 0; !found && i < k->hold_count; i++)
        if (k->holds[i].waiter == member->thread)
            found = i + 1;
    for (uint32_t i = found ? (uint32_t)found - 1 : k->hold_count;
         i < k->hold_count && k->holds[i].waiter == member->thread && !k->holds[i].cut; i++) {
        struct table_cell *cells = table_add_row(t, 1, (struct event_id){0});
        if (!cells)
            return;
        cells[WAITED] = table_cell_number(k->holds[i].ns);
        cells[RUNNER] = table_cell_line(k->holds[i].runner);
        cells[SHARE] = table_cell_real((double)k->holds[i].ns / (double)member->waited_ns);
        table_row_line(t, k->holds[i].runner);
    }
}

static void knots_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    struct knots_work *w = work;
    struct wait_knots *k = &w->knots;
    wait_knots_compute(k);
    t->title = xstrdup("knots");
    table_add_columns(t, knots_table_columns,
                      sizeof knots_table_columns / sizeof *knots_table_columns);
    for (uint32_t i = 0; i < k->member_count; i++) {
        const struct knot_member *m = &k->members[i];
        struct table_cell *cells = table_add_row(t, 0, (struct event_id){0});
        if (!cells)
            break;
        if (m->knot)
            cells[KNOT] = table_cell_number(m->knot);
        cells[THREAD] = table_cell_line(m->thread);
        cells[HELD] = table_cell_number(m->held_ns);
        cells[WAITED] = table_cell_number(m->waited_ns);
        table_row_line(t, m->thread);
        knots_table_add_awaited(k, m, t);
    }
    table_make_total(t)[WAITED] = table_cell_number(k->waited_ns);
    table_add_note(
        t,
        "%u knot%s (bottleneck group%s): these threads wait only for each other or not at "
        "all, and other threads wait for them; edges below 1 %% of a thread's wait time "
        "are ignored",
        k->count, k->count == 1 ? "" : "s", k->count == 1 ? "" : "s");
    table_arrange(t, view->request, "delayed_others_ns");
}

static void knots_table_free(void *work)
{
    struct knots_work *w = work;
    wait_knots_free(&w->knots);
    attribution_cells_free(&w->causing);
    free(w);
}

static const char *const knots_table_groupings[] = {"thread", NULL};

const struct table_preset preset_knots = {.what = "knots",
                                          .by = knots_table_groupings,
                                          .begin = knots_table_begin,
                                          .step = knots_table_step,
                                          .fill = knots_table_fill,
                                          .free = knots_table_free};
