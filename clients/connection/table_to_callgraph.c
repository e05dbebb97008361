#include "clients/connection/table_to_callgraph.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

struct callgraph_builder {
    const struct result_table *table;
    struct table_names names;
    struct call_graph *graph;
    uint32_t scope, calls, self, total, cycle;
    int64_t all; /* 100 % of shares: time of all lifetimes, or number of calls */
    uint32_t *node_of; /* by row; UINT32_MAX: none */
    uint32_t left_out;
};

/* ---- nodes ---- */

static const struct table_cell *table_to_callgraph_find_cell(const struct callgraph_builder *m,
                                                             uint32_t row, uint32_t column)
{
    static const struct table_cell none;
    return column < m->table->column_count ? &result_table_cells(m->table, row)[column] : &none;
}

static int64_t table_to_callgraph_cell_number(const struct callgraph_builder *m, uint32_t row,
                                              uint32_t column)
{
    const struct table_cell *c = table_to_callgraph_find_cell(m, row, column);
    return c->is == CELL_NUMBER && c->number > 0 ? c->number : 0;
}

static char *table_to_callgraph_cell_text(const struct callgraph_builder *m, uint32_t row,
                                          uint32_t column)
{
    return result_table_cell_text(&m->names, &m->table->columns[column],
                                  table_to_callgraph_find_cell(m, row, column));
}

/* Returns "total 12.300 ms, self 3.100 ms"; the number of calls if there are no times. */
static char *table_to_callgraph_amount_text(const struct callgraph_builder *m, uint32_t row)
{
    char *calls = table_to_callgraph_cell_text(m, row, m->calls), *text = NULL;
    if (table_to_callgraph_find_cell(m, row, m->self)->is == CELL_NUMBER &&
        table_to_callgraph_find_cell(m, row, m->total)->is == CELL_NUMBER) {
        char *total = table_to_callgraph_cell_text(m, row, m->total),
             *self = table_to_callgraph_cell_text(m, row, m->self);
        text = xasprintf("total %s ms, self %s ms", total, self);
        free(total);
        free(self);
    } else {
        text = xasprintf("%s calls", calls);
    }
    free(calls);
    return text;
}

static void add_node(struct callgraph_builder *m, uint32_t row)
{
    const struct table_cell *scope = table_to_callgraph_find_cell(m, row, m->scope);
    struct call_graph_node node = {.name = table_to_callgraph_cell_text(m, row, m->scope),
                                   .amount = table_to_callgraph_amount_text(m, row),
                                   .cycle =
                                       (uint32_t)table_to_callgraph_cell_number(m, row, m->cycle),
                                   .row = row,
                                   .waited = scope->is == CELL_TEXT && *scope->text != '('};
    node.share =
        m->all ? (double)table_to_callgraph_cell_number(m, row, m->self) / (double)m->all : 0;
    m->node_of[row] = m->graph->count;
    ARRAY_PUSH(m->graph->nodes, m->graph->count, node);
}

/* Adds nodes in the order of the table: the most expensive ones first. */
static void add_nodes(struct callgraph_builder *m)
{
    for (uint32_t i = 0; i < m->table->row_count; i++) {
        m->node_of[i] = UINT32_MAX;
        if (m->table->rows[i].depth)
            continue;
        if (m->graph->count < CALL_GRAPH_NODES_MAX)
            add_node(m, i);
        else
            m->left_out++;
    }
}

/* ---- arcs ---- */

/* Compares functions by address, since names may be equal or truncated. */
static bool table_to_callgraph_same_function(const struct table_cell *a, const struct table_cell *b)
{
    if (a->is != b->is)
        return false;
    if (a->is == CELL_TEXT)
        return strcmp(a->text, b->text) == 0;
    return (a->is == CELL_PLACE || a->is == CELL_NAME) && a->place.process == b->place.process &&
           a->place.address == b->place.address;
}

static uint32_t table_to_callgraph_callee_node(const struct callgraph_builder *m, uint32_t row)
{
    for (uint32_t i = 0; i < m->table->row_count; i++)
        if (m->node_of[i] != UINT32_MAX &&
            table_to_callgraph_same_function(table_to_callgraph_find_cell(m, i, m->scope),
                                             table_to_callgraph_find_cell(m, row, m->scope)))
            return m->node_of[i];
    return UINT32_MAX;
}

static void add_arcs(struct callgraph_builder *m)
{
    uint32_t from = UINT32_MAX;
    for (uint32_t i = 0; i < m->table->row_count; i++) {
        uint32_t to = m->table->rows[i].depth ? table_to_callgraph_callee_node(m, i) : UINT32_MAX;
        if (!m->table->rows[i].depth)
            from = m->node_of[i];
        if (from == UINT32_MAX || to == UINT32_MAX)
            continue;
        struct call_graph_arc arc = {from, to, table_to_callgraph_cell_text(m, i, m->calls), 0};
        uint32_t size =
            table_to_callgraph_find_cell(m, i, m->total)->is == CELL_NUMBER ? m->total : m->self;
        arc.share =
            m->all ? (double)table_to_callgraph_cell_number(m, i, size) / (double)m->all : 0;
        ARRAY_PUSH(m->graph->arcs, m->graph->arc_count, arc);
    }
}

/* ---- the graph ---- */

static void add_notes(struct callgraph_builder *m)
{
    static const char how[] = "Arrow label: call count; thickness: time. Dashed: recursive call. "
                              "Darker box: more self time. Hatched: waiting.";
    ARRAY_PUSH(m->graph->notes, m->graph->note_count, xstrdup(how));
    if (m->left_out)
        ARRAY_PUSH(m->graph->notes, m->graph->note_count,
                   xasprintf("%u functions with less time omitted.", m->left_out));
    for (uint32_t i = 0; i < m->table->note_count; i++)
        ARRAY_PUSH(m->graph->notes, m->graph->note_count, xstrdup(m->table->notes[i]));
}

void table_to_callgraph_make(struct call_graph *graph, const struct table_names *names,
                             const struct result_table *t)
{
    struct callgraph_builder m = {.table = t,
                                  .names = *names,
                                  .graph = graph,
                                  .scope = result_table_find_column(t, "function"),
                                  .calls = result_table_find_column(t, "calls"),
                                  .self = result_table_find_column(t, "self_ns"),
                                  .total = result_table_find_column(t, "total_ns"),
                                  .cycle = result_table_find_column(t, "cycle")};
    *graph = (struct call_graph){0};
    if (m.scope == t->column_count || m.calls == t->column_count)
        return;
    m.all = t->total && m.total < t->column_count && t->total[m.total].is == CELL_NUMBER
                ? t->total[m.total].number
                : 0;
    m.node_of = xcalloc(t->row_count + 1, sizeof *m.node_of);
    add_nodes(&m);
    add_arcs(&m);
    add_notes(&m);
    free(m.node_of);
}

void table_to_callgraph_free(struct call_graph *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        free(g->nodes[i].name);
        free(g->nodes[i].amount);
    }
    for (uint32_t i = 0; i < g->arc_count; i++)
        free(g->arcs[i].calls);
    for (uint32_t i = 0; i < g->note_count; i++)
        free(g->notes[i]);
    free(g->nodes);
    free(g->arcs);
    free(g->notes);
    *g = (struct call_graph){0};
}
