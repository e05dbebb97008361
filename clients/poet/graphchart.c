#include "clients/poet/graphchart.h"

#include "memory/memory.h"
#include "render/callgraph.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct making {
    const struct shown_table *table;
    struct table_names names;
    struct callgraph graph;
    uint32_t scope, calls, self, total, cycle;
    int64_t all; /* what shares are of: lives, or calls */
    uint32_t *node_of; /* by row; UINT32_MAX: it is left out */
    uint32_t left_out;
};

bool graphchart_wanted(const struct tables *o, const struct tables_section *sections, size_t count)
{
    return count == 1 && o->chart && strcmp(o->chart, "tree") == 0 && sections->what &&
           strcmp(sections->what, "calls") == 0;
}

struct tables_section graphchart_section(void)
{
    static char key[] = "graph", yes[] = "yes";
    static struct table_option options[] = {{key, yes}, {0}};
    return (struct tables_section){.what = "calls", .options = options};
}

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
                                  .waited = scope->is == CELL_TEXT && *scope->text != '('};
    node.share = m->all ? (double)number(m, row, m->self) / (double)m->all : 0;
    m->node_of[row] = m->graph.count;
    PUSH(m->graph.nodes, m->graph.count, node);
}

/* In the table's order: those that took most come first. */
static void add_nodes(struct making *m)
{
    for (uint32_t i = 0; i < m->table->row_count; i++) {
        m->node_of[i] = UINT32_MAX;
        if (m->table->rows[i].depth)
            continue;
        if (m->graph.count < CALLGRAPH_MOST)
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
        PUSH(m->graph.arcs, m->graph.arc_count, arc);
    }
}

/* ---- all ---- */

static void add_notes(struct making *m)
{
    static const char how[] = "Arrows bear how often; the thicker, the longer. Dashed: back into a "
                              "function that is open. A box is the darker the more it took itself; "
                              "hatched: waiting.";
    PUSH(m->graph.notes, m->graph.note_count, memory_copied(how));
    if (m->left_out)
        PUSH(m->graph.notes, m->graph.note_count,
             memory_printed("%u functions that took less are left out.", m->left_out));
    for (uint32_t i = 0; i < m->table->note_count; i++)
        PUSH(m->graph.notes, m->graph.note_count, memory_copied(m->table->notes[i]));
}

static void drop(struct callgraph *g)
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
}

static bool ends(const char *file, const char *ending)
{
    size_t n = strlen(file), e = strlen(ending);
    return n > e && strcasecmp(file + n - e, ending) == 0;
}

static int write_graph(const struct tables *o, const struct subject *subject,
                       struct callgraph *graph)
{
    struct page_options page = o->page;
    const char *file = o->file ? o->file : "";
    if (!ends(file, ".pdf") && !ends(file, ".svg") && !ends(file, ".png"))
        return command_usage(o->command, "--chart tree: needs -o FILE.pdf, .svg or .png");
    if (!graph->count)
        return command_fail(o->command, "there is nothing to be drawn: %s",
                            graph->notes[graph->note_count - 1]);
    page.format = ends(file, ".pdf") ? PAGE_PDF : ends(file, ".svg") ? PAGE_SVG : PAGE_PNG;
    page.title = graph->title;
    page.date = (time_t)(subject->source.book.run.wall_ns / 1000000000u);
    const char *why = callgraph_write(graph, &page, file);
    return why ? command_fail(o->command, "%s: %s", file, why) : EXIT_DONE;
}

int graphchart_write(const struct tables *o, const struct subject *subject,
                     const struct shown_table *t)
{
    struct making m = {.table = t,
                       .names = {&subject->source.book, subject->sites},
                       .scope = table_find(t, "scope"),
                       .calls = table_find(t, "calls"),
                       .self = table_find(t, "self_ns"),
                       .total = table_find(t, "total_ns"),
                       .cycle = table_find(t, "cycle")};
    char *title = memory_printed("%s: who calls whom", subject->source.book.run.name);
    if (m.scope == t->column_count || m.calls == t->column_count) {
        free(title);
        return command_fail(o->command, "the server tells no calls");
    }
    m.all = t->total && m.total < t->column_count && t->total[m.total].is == CELL_NUMBER
                ? t->total[m.total].number
                : 0;
    m.graph.title = title;
    m.node_of = memory_zeroed(t->row_count + 1, sizeof *m.node_of);
    add_nodes(&m);
    add_arcs(&m);
    add_notes(&m);
    int status = write_graph(o, subject, &m.graph);
    drop(&m.graph);
    free(m.node_of);
    free(title);
    return status;
}
