#include "render/worker_rows.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

struct worker_row_columns {
    uint32_t processor, cluster, task, from, took, came;
};

static bool worker_rows_find_columns(struct worker_row_columns *c, const struct result_table *t)
{
    uint32_t n = t->column_count;
    *c = (struct worker_row_columns){
        result_table_find_column(t, "worker"),   result_table_find_column(t, "cluster"),
        result_table_find_column(t, "thread"),   result_table_find_column(t, "from"),
        result_table_find_column(t, "duration"), result_table_find_column(t, "migrated_from")};
    return c->processor < n && c->cluster < n && c->task < n && c->from < n && c->took < n &&
           c->came < n;
}

static const char *worker_rows_text(const struct table_cell *cell)
{
    return cell->is == CELL_TEXT ? cell->text : "";
}

/* Adds a worker thread unless it is the last one: the placements of one thread are adjacent in the
 * table. */
static void worker_rows_receive_carrier(struct worker_rows *c, const char *name,
                                        const char *cluster)
{
    const struct worker_row *last = c->count ? &c->items[c->count - 1] : NULL;
    if (last && strcmp(last->name, name) == 0 && strcmp(last->cluster, cluster) == 0)
        return;
    struct worker_row row = {xstrdup(name), xstrdup(cluster)};
    ARRAY_PUSH(c->items, c->count, row);
}

/* Returns the new index of each row: rows of one cluster together, clusters in order of their first
 * rows. */
static uint32_t *worker_rows_order_by_group(const struct worker_rows *c)
{
    uint32_t *place = xcalloc(c->count + 1, sizeof *place), next = 0;
    uint8_t *done = xcalloc(c->count + 1, 1);
    for (uint32_t i = 0; i < c->count; i++)
        for (uint32_t k = i; k < c->count && !done[i]; k++)
            if (!done[k] && strcmp(c->items[k].cluster, c->items[i].cluster) == 0) {
                place[k] = next++;
                done[k] = k != i;
            }
    free(done);
    return place;
}

static int by_carrier(const void *a, const void *b)
{
    const struct worker_placement *x = a, *y = b;
    if (x->carrier != y->carrier)
        return x->carrier < y->carrier ? -1 : 1;
    return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

static void worker_rows_sort_rows(struct worker_rows *c)
{
    uint32_t *place = worker_rows_order_by_group(c);
    struct worker_row *items = xmalloc((c->count + 1) * sizeof *items);
    for (uint32_t i = 0; i < c->count; i++)
        items[place[i]] = c->items[i];
    for (uint32_t i = 0; i < c->placement_count; i++)
        c->placements[i].carrier = place[c->placements[i].carrier];
    if (c->placement_count)
        qsort(c->placements, c->placement_count, sizeof *c->placements, by_carrier);
    free(c->items);
    free(place);
    c->items = items;
}

void worker_rows_read(struct worker_rows *c, const struct result_table *t)
{
    struct worker_row_columns at;
    worker_rows_free(c);
    if (!worker_rows_find_columns(&at, t))
        return;
    for (uint32_t i = 0; i < t->row_count; i++) {
        const struct table_cell *cells = result_table_cells(t, i);
        if (cells[at.task].is != CELL_LINE || cells[at.from].is != CELL_NUMBER ||
            cells[at.took].is != CELL_NUMBER || cells[at.took].number < 0)
            continue;
        worker_rows_receive_carrier(c, worker_rows_text(&cells[at.processor]),
                                    worker_rows_text(&cells[at.cluster]));
        struct worker_placement placement = {.carrier = c->count - 1,
                                             .task = cells[at.task].line,
                                             .from_ns = cells[at.from].number,
                                             .came = cells[at.came].is == CELL_TEXT};
        if (__builtin_add_overflow(placement.from_ns, cells[at.took].number, &placement.to_ns))
            placement.to_ns = INT64_MAX;
        ARRAY_PUSH(c->placements, c->placement_count, placement);
    }
    worker_rows_sort_rows(c);
}

void worker_rows_free(struct worker_rows *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        free(c->items[i].name);
        free(c->items[i].cluster);
    }
    free(c->items);
    free(c->placements);
    *c = (struct worker_rows){0};
}
