#include "render/carriers.h"

#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

struct columns {
    uint32_t processor, cluster, task, from, took, came;
};

static bool find(struct columns *c, const struct shown_table *t)
{
    uint32_t n = t->column_count;
    *c = (struct columns){table_find(t, "processor"), table_find(t, "cluster"),
                          table_find(t, "thread"),    table_find(t, "from"),
                          table_find(t, "took"),      table_find(t, "came")};
    return c->processor < n && c->cluster < n && c->task < n && c->from < n && c->took < n &&
           c->came < n;
}

static const char *text_of(const struct table_cell *cell)
{
    return cell->is == CELL_TEXT ? cell->text : "";
}

/* Its rows follow each other. */
static void take_carrier(struct carriers *c, const char *name, const char *cluster)
{
    const struct carrier_row *last = c->count ? &c->items[c->count - 1] : NULL;
    if (last && strcmp(last->name, name) == 0 && strcmp(last->cluster, cluster) == 0)
        return;
    struct carrier_row row = {memory_copied(name), memory_copied(cluster)};
    PUSH(c->items, c->count, row);
}

/* In the order of the clusters' first ones. */
static uint32_t *order(const struct carriers *c)
{
    uint32_t *place = memory_zeroed(c->count + 1, sizeof *place), next = 0;
    uint8_t *done = memory_zeroed(c->count + 1, 1);
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
    const struct carried_stay *x = a, *y = b;
    if (x->carrier != y->carrier)
        return x->carrier < y->carrier ? -1 : 1;
    return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

static void arrange(struct carriers *c)
{
    uint32_t *place = order(c);
    struct carrier_row *items = memory_bytes((c->count + 1) * sizeof *items);
    for (uint32_t i = 0; i < c->count; i++)
        items[place[i]] = c->items[i];
    for (uint32_t i = 0; i < c->stay_count; i++)
        c->stays[i].carrier = place[c->stays[i].carrier];
    if (c->stay_count)
        qsort(c->stays, c->stay_count, sizeof *c->stays, by_carrier);
    free(c->items);
    free(place);
    c->items = items;
}

void carriers_read(struct carriers *c, const struct shown_table *t)
{
    struct columns at;
    carriers_free(c);
    if (!find(&at, t))
        return;
    for (uint32_t i = 0; i < t->row_count; i++) {
        const struct table_cell *cells = table_cells(t, i);
        if (cells[at.task].is != CELL_LINE || cells[at.from].is != CELL_NUMBER ||
            cells[at.took].is != CELL_NUMBER || cells[at.took].number < 0)
            continue;
        take_carrier(c, text_of(&cells[at.processor]), text_of(&cells[at.cluster]));
        struct carried_stay stay = {.carrier = c->count - 1,
                                    .task = cells[at.task].line,
                                    .from_ns = cells[at.from].number,
                                    .came = cells[at.came].is == CELL_TEXT};
        if (__builtin_add_overflow(stay.from_ns, cells[at.took].number, &stay.to_ns))
            stay.to_ns = INT64_MAX;
        PUSH(c->stays, c->stay_count, stay);
    }
    arrange(c);
}

void carriers_free(struct carriers *c)
{
    for (uint32_t i = 0; i < c->count; i++) {
        free(c->items[i].name);
        free(c->items[i].cluster);
    }
    free(c->items);
    free(c->stays);
    *c = (struct carriers){0};
}
