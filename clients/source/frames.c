#include "clients/source/frames.h"

#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

uint32_t frames_count(const struct table_names *names, struct table_place place)
{
    return place.address ? sites_frames(names->sites, place.process, place.address) : 1;
}

char *frames_say(const struct table_names *names, struct table_place place, uint32_t frame)
{
    if (!frame || !place.address)
        return table_say_place(names, place, "?");
    struct site_is site = sites_frame(names->sites, place.process, place.address, frame);
    return *site.function ? memory_printed("%s (%s)", site.function, site.place)
                          : memory_copied(site.place);
}

/* ---- a tree ---- */

struct growing {
    struct shown_table *table; /* whose rows are moved over */
    const struct table_names *names;
    uint32_t scope, row_count;
    struct table_row *rows;
    struct table_cell *cells;
    uint32_t latest[UINT8_MAX + 1]; /* by depth the row, 1 more: 0: none */
    /* By the depth that was, how many rows lie above it that were not there */
    uint8_t added[UINT8_MAX + 1];
};

static struct table_cell *cells_of(const struct growing *g, uint32_t row)
{
    return g->cells + (size_t)row * g->table->column_count;
}

static struct table_cell *put_row(struct growing *g, const struct table_row *row, unsigned depth)
{
    uint32_t columns = g->table->column_count;
    g->rows = memory_resized(g->rows, g->row_count + 1, sizeof *g->rows);
    g->cells = memory_resized(g->cells, (size_t)(g->row_count + 1) * columns, sizeof *g->cells);
    g->rows[g->row_count++] = *row;
    g->rows[g->row_count - 1].depth = (uint8_t)depth;
    g->latest[depth] = g->row_count;
    for (unsigned deeper = depth + 1; deeper <= UINT8_MAX; deeper++)
        g->latest[deeper] = 0;
    return cells_of(g, g->row_count - 1);
}

/* The sums of another call that was inlined in the same one. */
static void add(const struct growing *g, struct table_cell *to, const struct table_cell *from)
{
    for (uint32_t i = 0; i < g->table->column_count; i++)
        if (to[i].is == CELL_NUMBER && from[i].is == CELL_NUMBER &&
            g->table->columns[i].kind == TABLE_COUNT)
            to[i].number += from[i].number;
        else if (i != g->scope && to[i].is != CELL_TEXT)
            to[i] = (struct table_cell){0};
}

/* A row of what a call was inlined in, which the row before may be. */
static void put_outer(struct growing *g, const struct table_cell *from, char *said, unsigned depth)
{
    uint32_t before = g->latest[depth];
    struct table_cell *same = before ? &cells_of(g, before - 1)[g->scope] : NULL;
    if (same && same->is == CELL_TEXT && strcmp(same->text, said) == 0) {
        add(g, cells_of(g, before - 1), from);
        free(said);
        return;
    }
    struct table_cell *cells = put_row(g, &(struct table_row){0}, depth);
    for (uint32_t i = 0; i < g->table->column_count; i++)
        cells[i] = from[i].is == CELL_TEXT
                       ? (struct table_cell){.is = CELL_TEXT, .text = memory_copied(from[i].text)}
                       : from[i];
    cells[g->scope] = (struct table_cell){.is = CELL_TEXT, .text = said};
}

static void take_row(struct growing *g, uint32_t i)
{
    struct table_row *row = &g->table->rows[i];
    const struct table_cell *from = table_cells(g->table, i), *call = &from[g->scope];
    unsigned depth = row->depth + (row->depth ? g->added[row->depth - 1] : 0u);
    uint32_t frames = call->is == CELL_PLACE ? frames_count(g->names, call->place) : 1;
    for (; frames > 1 && depth < UINT8_MAX; frames--, depth++)
        put_outer(g, from, frames_say(g->names, call->place, frames - 1), depth);
    depth = depth < UINT8_MAX ? depth : UINT8_MAX;
    g->added[row->depth] = (uint8_t)(depth - row->depth);
    memcpy(put_row(g, row, depth), from, g->table->column_count * sizeof *from);
}

void frames_tree(struct shown_table *t, const struct table_names *names, uint32_t scope)
{
    struct growing *g = memory_zeroed(1, sizeof *g);
    *g = (struct growing){.table = t, .names = names, .scope = scope};
    for (uint32_t i = 0; i < t->row_count; i++)
        take_row(g, i);
    if (t->row_count) {
        free(t->rows);
        free(t->cells);
        t->rows = g->rows;
        t->cells = g->cells;
        t->row_count = g->row_count;
    }
    free(g);
}
