/* Table of the edges between basic blocks that threads took: how often, and the time in the block
 * that was reached (wire/profile_region.h). The client finds blocks and loops among them, since it
 * knows the functions (clients/connection/basic_blocks.h). A row is an edge over all threads, or of
 * one thread. */
#include "server/queries/tables/table_query.h"
#include "server/run/call_sites.h"
#include "server/timing/call_contexts.h"
#include "base/alloc.h"
#include "wire/profile_region.h"

#include <stdlib.h>
#include <string.h>

enum edges_column { BLOCK, BEFORE, THREAD, COUNT, NESTED, SELF, CALLED, OVERHEAD };

static const char edges_source[] = "instrumented blocks";

static const struct column_definition edges_columns[] = {
    [BLOCK] = {"block", NULL, TABLE_PLACE, edges_source, NULL, false},
    [BEFORE] = {"before", NULL, TABLE_PLACE, edges_source, NULL, false},
    [THREAD] = {"thread", NULL, TABLE_LINE, edges_source, NULL, false},
    [COUNT] = {"count", NULL, TABLE_COUNT, edges_source, NULL, false},
    [NESTED] = {"recursive", NULL, TABLE_COUNT, edges_source, NULL, false},
    [SELF] = {"self_ns", NULL, TABLE_NS, edges_source, NULL, false},
    [CALLED] = {"called_ns", "called", TABLE_NS, edges_source, NULL, false},
    [OVERHEAD] = {"overhead_ns", "instrumentation overhead", TABLE_NS, edges_source, NULL, false}};

struct edge_sums {
    struct table_place block, before;
    uint32_t line;
    uint64_t count, nested;
    int64_t self_ns, called_ns;
    double overhead_ns;
    bool timed;
};

struct edges_work {
    const struct table_view *view;
    struct call_contexts *all;
    uint64_t taken; /* number of region readings when the request came */
    uint32_t next; /* thread */
    struct edge_sums *items;
    size_t count, room;
    struct map places, index; /* place -> number; block and place before -> index */
    struct table_place *known;
    size_t known_count, known_room;
    bool by_thread;
    uint64_t left; /* edges that were taken, and had no room */
};

static void *edges_table_begin(const struct table_view *view, struct error *error)
{
    if (view->past || view->from_ns != INT64_MIN || view->to_ns != INT64_MAX) {
        error_set(error, "basic blocks are known for the whole run only, not for a part of it");
        return NULL;
    }
    struct edges_work *w = xcalloc(1, sizeof *w);
    w->view = view;
    w->by_thread = strcmp(view->request->by, "thread") == 0;
    w->all = (struct call_contexts *)(uintptr_t)&view->run->contexts; /* only `wanted` changes */
    w->all->wanted = view->run->programs.connected > 0;
    w->taken = w->all->taken;
    return w;
}

/* Returns the number of a place, the same in all processes; 0: none. */
static uint32_t edges_table_place(struct edges_work *w, struct table_place place)
{
    if (!place.address)
        return 0;
    struct call_site_key key = call_sites_key(w->view->run, place.process, place.address);
    return 1 + (uint32_t)MAP_INDEX(&w->places, key.space, key.offset, w->known, w->known_count,
                                   w->known_room, place);
}

/* Returns the time that the hook takes in a thread, in ns. */
static double edges_table_cost_ns(struct edges_work *w, const struct call_context_thread *thread)
{
    double cost_ns = 0;
    for (size_t i = 1; i < thread->count; i++) {
        const struct snapshot_context *s = &thread->items[i].sums;
        if (s->is.scope != SCOPE_EDGE || s->is.function)
            continue;
        w->left += s->calls;
        cost_ns = (double)s->own_ns / BLOCK_COST_TIMES;
    }
    return cost_ns;
}

static void edges_table_add(struct edges_work *w, const struct call_context_thread *thread,
                            const struct snapshot_context *s, double cost_ns)
{
    if (s->is.function <= BLOCK_NONE)
        return;
    uint64_t block = edges_table_place(w, (struct table_place){thread->process, s->is.function}),
             before = edges_table_place(w, (struct table_place){thread->process, s->is.site});
    struct edge_sums new = {.block = w->known[block - 1],
                            .before = before ? w->known[before - 1] : (struct table_place){0},
                            .line = w->by_thread ? thread->line : 0};
    struct edge_sums *sums =
        MAP_ITEM(&w->index, block << 32 | before, new.line, w->items, w->count, w->room, new);
    sums->count += s->calls;
    sums->nested += s->concurrent;
    sums->self_ns += (int64_t)s->own_ns;
    sums->called_ns += (int64_t)s->real_ns;
    sums->overhead_ns += (double)s->calls * cost_ns;
    sums->timed |= s->own_ns || s->real_ns;
}

/* (In a live run it waits for the newest sums.) */
static bool edges_table_step(void *work, uint64_t *budget)
{
    struct edges_work *w = work;
    if (w->view->run->programs.connected && w->all->taken == w->taken && w->all->wanted)
        return false;
    for (; w->next < w->all->count; w->next++) {
        const struct call_context_thread *thread = &w->all->threads[w->next];
        if (!*budget)
            return false;
        *budget -= *budget < thread->count + 1 ? *budget : thread->count + 1;
        if (!table_wants(w->view, thread->line))
            continue;
        double cost_ns = edges_table_cost_ns(w, thread);
        for (size_t i = 1; i < thread->count; i++)
            if (thread->items[i].sums.is.scope == SCOPE_EDGE)
                edges_table_add(w, thread, &thread->items[i].sums, cost_ns);
    }
    return true;
}

static struct table_cell edges_table_place_cell(struct table_place place)
{
    return place.address ? table_cell_place(place) : (struct table_cell){0};
}

static void edges_table_fill(void *work, const struct table_view *view, struct result_table *t)
{
    const struct edges_work *w = work;
    (void)view;
    t->title = xstrdup("edges between basic blocks");
    table_add_columns(t, edges_columns, sizeof edges_columns / sizeof *edges_columns);
    for (size_t i = 0; i < w->count; i++) {
        const struct edge_sums *e = &w->items[i];
        struct table_cell *cells = table_add_row(t, 0, (struct event_id){0});
        if (!cells)
            break;
        cells[BLOCK] = edges_table_place_cell(e->block);
        cells[BEFORE] = edges_table_place_cell(e->before);
        cells[THREAD] = table_cell_line(e->line);
        cells[COUNT] = table_cell_number((int64_t)e->count);
        cells[NESTED] = table_cell_number((int64_t)e->nested);
        if (e->timed) {
            cells[SELF] = table_cell_number(e->self_ns);
            cells[CALLED] = table_cell_number(e->called_ns);
            cells[OVERHEAD] =
                table_cell_number((int64_t)(e->overhead_ns < 9e18 ? e->overhead_ns : 9e18));
        }
        if (e->line)
            table_row_line(t, e->line);
    }
    if (w->left)
        table_add_note(t,
                       "%llu times a block was reached by an edge for which there was no room: "
                       "counts are lower bounds",
                       (unsigned long long)w->left);
}

static void edges_table_free(void *work)
{
    struct edges_work *w = work;
    free(w->items);
    free(w->known);
    map_free(&w->places);
    map_free(&w->index);
    free(w);
}

static const char *const edges_by[] = {"edge", "thread", NULL};

const struct table_preset preset_edges = {.what = "edges",
                                          .by = edges_by,
                                          .begin = edges_table_begin,
                                          .step = edges_table_step,
                                          .fill = edges_table_fill,
                                          .free = edges_table_free};
