#include "clients/source/graphing.h"

#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

struct making {
    const struct shown_table *table;
    struct table_names names;
    struct callgraph *graph;
    uint32_t scope, calls, self, total, cycle;
    int64_t all; /* what shares are of: lives, or calls */
    uint32_t *node_of; /* by row; UINT32_MAX: it is left out */
    uint32_t left_out;
};

/* ---- nodes ---- */

static const struct table_cell *cell(const struct making *m, uint32_t row, uint32_t column)
{
    static const struct table_cell none;
    return column < m->table->column_count ? &table_cells(m->table, row)[column] : &none;
}

static int64_t number(const struct making *m, uint32_t row, uint32_t column)
{
    const struct table_cell *c = cell(m, row, column);
    return c->is == CELL_NUMBER && c->number > 0 ? c->number : 0;
}

static char *say(const struct making *m, uint32_t row, uint32_t column)
{
    return table_say(&m->names, &m->table->columns[column], cell(m, row, column));
}

/* "total 12.300 ms, self 3.100 ms", or how often, where that is all. */
static char *amount(const struct making *m, uint32_t row)
{
    char *calls = say(m, row, m->calls), *said = NULL;
    if (cell(m, row, m->self)->is == CELL_NUMBER && cell(m, row, m->total)->is == CELL_NUMBER) {
        char *total = say(m, row, m->total), *self = say(m, row, m->self);
        said = memory_printed("total %s ms, self %s ms", total, self);
        free(total);
        free(self);
    } else {
        said = memory_printed("%s calls", calls);
    }
    free(calls);
    return said;
}

static void add_node(struct making *m, uint32_t row)
{
    const struct table_cell *scope = cell(m, row, m->scope);
    struct callgraph_node node = {.name = say(m, row, m->scope),
                                  .amount = amount(m, row),
                                  .cycle = (uint32_t)number(m, row, m->cycle),
                                  .row = row,
                                  .waited = scope->is == CELL_TEXT && *scope->text != '('};
    node.share = m->all ? (double)number(m, row, m->self) / (double)m->all : 0;
    m->node_of[row] = m->graph->count;
    PUSH(m->graph->nodes, m->graph->count, node);
}

/* In the table's order: those that took most come first. */
static void add_nodes(struct making *m)
{
    for (uint32_t i = 0; i < m->table->row_count; i++) {
        m->node_of[i] = UINT32_MAX;
        if (m->table->rows[i].depth)
            continue;
        if (m->graph->count < CALLGRAPH_MOST)
            add_node(m, i);
        else
            m->left_out++;
    }
}

/* ---- arcs ---- */

/* Names may be alike, or cut off: a function is where it lies. */
static bool same(const struct table_cell *a, const struct table_cell *b)
{
    if (a->is != b->is)
        return false;
    if (a->is == CELL_TEXT)
        return strcmp(a->text, b->text) == 0;
    return (a->is == CELL_PLACE || a->is == CELL_NAME) && a->place.process == b->place.process &&
           a->place.address == b->place.address;
}

static uint32_t called(const struct making *m, uint32_t row)
{
    for (uint32_t i = 0; i < m->table->row_count; i++)
        if (m->node_of[i] != UINT32_MAX && same(cell(m, i, m->scope), cell(m, row, m->scope)))
            return m->node_of[i];
    return UINT32_MAX;
}

static void add_arcs(struct making *m)
{
    uint32_t from = UINT32_MAX;
    for (uint32_t i = 0; i < m->table->row_count; i++) {
        uint32_t to = m->table->rows[i].depth ? called(m, i) : UINT32_MAX;
        if (!m->table->rows[i].depth)
            from = m->node_of[i];
        if (from == UINT32_MAX || to == UINT32_MAX)
            continue;
        struct callgraph_arc arc = {from, to, say(m, i, m->calls), 0};
        uint32_t size = cell(m, i, m->total)->is == CELL_NUMBER ? m->total : m->self;
        arc.share = m->all ? (double)number(m, i, size) / (double)m->all : 0;
        PUSH(m->graph->arcs, m->graph->arc_count, arc);
    }
}

/* ---- all ---- */

static void add_notes(struct making *m)
{
    static const char how[] = "Arrows bear how often; the thicker, the longer. Dashed: back into a "
                              "function that is open. A box is the darker the more it took itself; "
                              "hatched: waiting.";
    PUSH(m->graph->notes, m->graph->note_count, memory_copied(how));
    if (m->left_out)
        PUSH(m->graph->notes, m->graph->note_count,
             memory_printed("%u functions that took less are left out.", m->left_out));
    for (uint32_t i = 0; i < m->table->note_count; i++)
        PUSH(m->graph->notes, m->graph->note_count, memory_copied(m->table->notes[i]));
}

void graphing_make(struct callgraph *graph, const struct table_names *names,
                   const struct shown_table *t)
{
    struct making m = {.table = t,
                       .names = *names,
                       .graph = graph,
                       .scope = table_find(t, "scope"),
                       .calls = table_find(t, "calls"),
                       .self = table_find(t, "self_ns"),
                       .total = table_find(t, "total_ns"),
                       .cycle = table_find(t, "cycle")};
    *graph = (struct callgraph){0};
    if (m.scope == t->column_count || m.calls == t->column_count)
        return;
    m.all = t->total && m.total < t->column_count && t->total[m.total].is == CELL_NUMBER
                ? t->total[m.total].number
                : 0;
    m.node_of = memory_zeroed(t->row_count + 1, sizeof *m.node_of);
    add_nodes(&m);
    add_arcs(&m);
    add_notes(&m);
    free(m.node_of);
}
