#include "clients/connection/stack_frames.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

uint32_t stack_frames_count(const struct table_names *names, struct table_place place)
{
    return place.address ? symbolizer_frames(names->sites, place.process, place.address) : 1;
}

char *stack_frames_text(const struct table_names *names, struct table_place place, uint32_t frame)
{
    if (!frame || !place.address)
        return result_table_place_text(names, place, "?");
    struct symbol_location site =
        symbolizer_frame(names->sites, place.process, place.address, frame);
    return *site.function ? xasprintf("%s (%s)", site.function, site.place) : xstrdup(site.place);
}

void stack_frames_of_event(struct symbolizer *sites, const struct event_info *e,
                           void (*take)(void *user, uint64_t address,
                                        const struct symbol_location *function),
                           void *user)
{
    for (uint32_t i = 0; e->site && i <= e->stack.count; i++) {
        uint64_t address = i ? e->stack.callers[i - 1] : e->site;
        uint32_t count = symbolizer_frames(sites, e->process, address);
        for (uint32_t k = 0; k < count; k++) {
            struct symbol_location at = symbolizer_frame(sites, e->process, address, k);
            take(user, address, &at);
        }
    }
}

const char *stack_frames_incomplete(const struct event_info *e)
{
    static const char *const ends[STACK_ENDS] = {
        [STACK_CUT] = "more callers", [STACK_UNKNOWN] = "no unwind information"};
    return e->stack.end < STACK_ENDS ? ends[e->stack.end] : NULL;
}

/* ---- tree with inlined functions ---- */

struct stack_frames_builder {
    struct result_table *table; /* its rows are moved to `rows` */
    const struct table_names *names;
    uint32_t scope, row_count;
    struct table_row *rows;
    struct table_cell *cells;
    uint32_t latest[UINT8_MAX + 1]; /* by depth: 1 + the last row; 0: none */
    /* by original depth: number of inserted levels above it */
    uint8_t added[UINT8_MAX + 1];
};

static struct table_cell *cells_of(const struct stack_frames_builder *g, uint32_t row)
{
    return g->cells + (size_t)row * g->table->column_count;
}

static struct table_cell *stack_frames_append_row(struct stack_frames_builder *g,
                                                  const struct table_row *row, unsigned depth)
{
    uint32_t columns = g->table->column_count;
    g->rows = xreallocarray(g->rows, g->row_count + 1, sizeof *g->rows);
    g->cells = xreallocarray(g->cells, (size_t)(g->row_count + 1) * columns, sizeof *g->cells);
    g->rows[g->row_count++] = *row;
    g->rows[g->row_count - 1].depth = (uint8_t)depth;
    g->latest[depth] = g->row_count;
    for (unsigned deeper = depth + 1; deeper <= UINT8_MAX; deeper++)
        g->latest[deeper] = 0;
    return cells_of(g, g->row_count - 1);
}

/* Adds the sums of another call that was inlined into the same function. */
static void stack_frames_add_row_values(const struct stack_frames_builder *g, struct table_cell *to,
                                        const struct table_cell *from)
{
    for (uint32_t i = 0; i < g->table->column_count; i++)
        if (to[i].is == CELL_NUMBER && from[i].is == CELL_NUMBER &&
            g->table->columns[i].kind == TABLE_COUNT)
            to[i].number += from[i].number;
        else if (i != g->scope && to[i].is != CELL_TEXT)
            to[i] = (struct table_cell){0};
}

/* Appends a row for the function into which a call was inlined, or adds to the last row if it is of
 * the same one. */
static void stack_frames_append_outer(struct stack_frames_builder *g, const struct table_cell *from,
                                      char *text, unsigned depth)
{
    uint32_t before = g->latest[depth];
    struct table_cell *same = before ? &cells_of(g, before - 1)[g->scope] : NULL;
    if (same && same->is == CELL_TEXT && strcmp(same->text, text) == 0) {
        stack_frames_add_row_values(g, cells_of(g, before - 1), from);
        free(text);
        return;
    }
    struct table_cell *cells = stack_frames_append_row(g, &(struct table_row){0}, depth);
    for (uint32_t i = 0; i < g->table->column_count; i++)
        cells[i] = from[i].is == CELL_TEXT
                       ? (struct table_cell){.is = CELL_TEXT, .text = xstrdup(from[i].text)}
                       : from[i];
    cells[g->scope] = (struct table_cell){.is = CELL_TEXT, .text = text};
}

static void stack_frames_receive_row(struct stack_frames_builder *g, uint32_t i)
{
    struct table_row *row = &g->table->rows[i];
    const struct table_cell *from = result_table_cells(g->table, i), *call = &from[g->scope];
    unsigned depth = row->depth + (row->depth ? g->added[row->depth - 1] : 0u);
    uint32_t frames = call->is == CELL_PLACE ? stack_frames_count(g->names, call->place) : 1;
    for (; frames > 1 && depth < UINT8_MAX; frames--, depth++)
        stack_frames_append_outer(g, from, stack_frames_text(g->names, call->place, frames - 1),
                                  depth);
    depth = depth < UINT8_MAX ? depth : UINT8_MAX;
    g->added[row->depth] = (uint8_t)(depth - row->depth);
    memcpy(stack_frames_append_row(g, row, depth), from, g->table->column_count * sizeof *from);
}

void stack_frames_tree(struct result_table *t, const struct table_names *names, uint32_t scope)
{
    struct stack_frames_builder *g = xcalloc(1, sizeof *g);
    *g = (struct stack_frames_builder){.table = t, .names = names, .scope = scope};
    for (uint32_t i = 0; i < t->row_count; i++)
        stack_frames_receive_row(g, i);
    if (t->row_count) {
        free(t->rows);
        free(t->cells);
        t->rows = g->rows;
        t->cells = g->cells;
        t->row_count = g->row_count;
    }
    free(g);
}
