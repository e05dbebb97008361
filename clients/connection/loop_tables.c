#define _GNU_SOURCE
#include "clients/connection/loop_tables.h"

#include "base/alloc.h"
#include "clients/connection/block_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum loop_column {
    FUNCTION,
    LOCATION,
    PLACE,
    THREAD,
    DEPTH,
    ENTRIES,
    ITERATIONS,
    PER_ENTRY,
    BACK,
    UNKNOWN,
    COUNT,
    SELF,
    NET,
    MEAN,
    CALLED,
    TOTAL,
    OVERHEAD,
    SHARE,
    LOOP_COLUMNS
};

/* Which tables have a column. */
#define LOOPS 1u
#define BLOCKS 2u
#define BOTH (LOOPS | BLOCKS)

static const struct loop_column_definition {
    const char *name, *title;
    uint8_t kind, of;
    bool detail;
    bool exact; /* else it includes the time of the hooks */
} loop_columns[LOOP_COLUMNS] = {
    [FUNCTION] = {"function", "function", TABLE_TEXT, BOTH, false, true},
    [LOCATION] = {"location", "location", TABLE_TEXT, BOTH, false, true},
    [PLACE] = {"block", "block", TABLE_PLACE, BOTH, true, true},
    [THREAD] = {"thread", "thread", TABLE_LINE, BOTH, false, true},
    [DEPTH] = {"depth", "depth", TABLE_COUNT, LOOPS, false, true},
    [ENTRIES] = {"entries", "entries", TABLE_COUNT, LOOPS, false, true},
    [ITERATIONS] = {"iterations", "iterations", TABLE_COUNT, LOOPS, false, true},
    [PER_ENTRY] = {"iterations_per_entry", "per entry", TABLE_COUNT, LOOPS, false, true},
    [BACK] = {"back_edges", "back edges", TABLE_COUNT, LOOPS, true, true},
    [UNKNOWN] = {"unknown", "from unknown block", TABLE_COUNT, LOOPS, true, true},
    [COUNT] = {"count", "count", TABLE_COUNT, BLOCKS, false, true},
    [SELF] = {"self_ns", "self", TABLE_NS, BOTH, false, false},
    [NET] = {"net_ns", "net", TABLE_NS, BOTH, false, false},
    [MEAN] = {"mean_ns", "mean", TABLE_FINE, BLOCKS, false, false},
    [CALLED] = {"called_ns", "called", TABLE_NS, BOTH, true, false},
    [TOTAL] = {"total_ns", "total", TABLE_NS, LOOPS, false, false},
    [OVERHEAD] = {"overhead_ns", "instrumentation overhead", TABLE_NS, BOTH, true, false},
    [SHARE] = {"self_share", "%", TABLE_SHARE, BOTH, false, false}};

struct loop_table_builder {
    struct result_table *to;
    const struct loop_table_options *how;
    const struct table_names *names;
    const struct result_table *edges;
    struct block_graph graph;
    uint32_t *lines, line_count; /* threads; one of line 0 for all together */
    int64_t all_ns; /* self time of all blocks */
    bool unknown, recursive, untested;
    bool has[LOOP_COLUMNS]; /* others are removed in the end */
};

/* ---- the graph ---- */

#define LINE_BYTES 16u

/* Names a block, when it is new. (The address is behind the call of the hook.) */
static uint32_t loop_table_node(struct loop_table_builder *b, struct table_place place)
{
    size_t count = b->graph.node_count;
    uint32_t node = block_graph_node(&b->graph, place);
    if (b->graph.node_count == count)
        return node;
    struct block_node *n = &b->graph.nodes[node];
    struct symbol_location outer =
        symbolize_outer(b->names->sites, place.process, place.address - 1);
    n->function = xstrdup(outer.function);
    struct symbol_location is = symbolize(b->names->sites, place.process, place.address - 1);
    for (unsigned i = 0; i < LINE_BYTES && !is.line; i++) /* clang gives the call none */
        is = symbolize(b->names->sites, place.process, place.address + i);
    n->inlined = xstrdup(is.function);
    n->file = xstrdup(is.line ? is.path : "");
    n->line = is.line;
    return node;
}

static int64_t loop_table_number(const struct table_cell *cell)
{
    return cell->is == CELL_NUMBER ? cell->number : 0;
}

static void loop_table_add_line(struct loop_table_builder *b, uint32_t line)
{
    for (uint32_t i = 0; i < b->line_count; i++)
        if (b->lines[i] == line)
            return;
    ARRAY_PUSH(b->lines, b->line_count, line);
}

static bool loop_table_read_edges(struct loop_table_builder *b)
{
    static const char *const names[] = {"block",     "before",  "thread",    "count",
                                        "recursive", "self_ns", "called_ns", "overhead_ns"};
    uint32_t column[sizeof names / sizeof *names];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if ((column[i] = result_table_find_column(b->edges, names[i])) == b->edges->column_count)
            return false;
    for (uint32_t i = 0; i < b->edges->row_count; i++) {
        const struct table_cell *cells = result_table_cells(b->edges, i);
        if (cells[column[0]].is != CELL_PLACE)
            continue;
        struct block_graph_edge e = {.from = BLOCK_GRAPH_NONE};
        e.to = loop_table_node(b, cells[column[0]].place);
        if (cells[column[1]].is == CELL_PLACE)
            e.from = loop_table_node(b, cells[column[1]].place);
        e.line = cells[column[2]].is == CELL_LINE ? cells[column[2]].line : 0;
        e.count = loop_table_number(&cells[column[3]]);
        e.recursive = loop_table_number(&cells[column[4]]);
        e.timed = cells[column[5]].is == CELL_NUMBER;
        e.self_ns = loop_table_number(&cells[column[5]]);
        e.called_ns = loop_table_number(&cells[column[6]]);
        e.overhead_ns = loop_table_number(&cells[column[7]]);
        b->all_ns += e.self_ns;
        block_graph_add(&b->graph, e);
        loop_table_add_line(b, e.line);
    }
    return true;
}

#define CALL_BYTES 6u /* at most, of the call of the hook at the begin of the next block */
#define PLAIN_BYTES 128u

/* Returns whether the code of a block is of one source line, or of none. */
static bool loop_table_is_plain(const struct loop_table_builder *b, uint32_t block)
{
    const struct block_node *n = &b->graph.nodes[block], *next = n + 1;
    bool last = block + 1 == b->graph.node_count || next->component != n->component;
    uint64_t bytes = last ? PLAIN_BYTES : next->place.address - n->place.address;
    if (bytes > PLAIN_BYTES)
        return false;
    for (uint64_t i = 0; i + (last ? 0 : CALL_BYTES) < bytes; i++) {
        struct symbol_location is =
            symbolize(b->names->sites, n->place.process, n->place.address + i);
        if (last && i && strcmp(is.function, n->inlined) != 0)
            break; /* behind the function */
        if (is.line && (is.line != n->line || strcmp(is.path, n->file) != 0))
            return false;
    }
    return n->line != 0;
}

/* Finds out which blocks can be the test of a loop. */
static void loop_table_find_tests(struct loop_table_builder *b)
{
    for (size_t i = 0; i < b->graph.loop_count; i++) {
        const struct block_loop *loop = &b->graph.loops[i];
        int line = b->graph.nodes[loop->header].line;
        for (uint32_t k = 0; k < loop->count && line; k++)
            if (b->graph.nodes[loop->blocks[k]].line == line)
                b->graph.nodes[loop->blocks[k]].plain = loop_table_is_plain(b, loop->blocks[k]);
    }
}

/* ---- rows ---- */

static void loop_table_add_columns(struct loop_table_builder *b)
{
    for (size_t i = 0; i < LOOP_COLUMNS; i++) {
        const struct loop_column_definition *d = &loop_columns[i];
        bool has = d->of & (b->how->blocks ? BLOCKS : LOOPS) && (i != THREAD || b->how->by_thread);
        bool time = d->kind == TABLE_NS || d->kind == TABLE_FINE;
        struct table_column column = {.name = xstrdup(d->name),
                                      .title = xstrdup(d->title),
                                      .unit = xstrdup(time ? "ns" : ""),
                                      .kind = d->kind,
                                      .exact = d->exact,
                                      .detail = d->detail,
                                      .source = xstrdup("instrumented blocks")};
        b->has[i] = has;
        ARRAY_PUSH(b->to->columns, b->to->column_count, column);
    }
}

static struct table_cell *loop_table_add_row(struct loop_table_builder *b, uint32_t line)
{
    struct result_table *t = b->to;
    struct table_row row = {0};
    if (line) {
        row.lines = xcalloc(1, sizeof *row.lines);
        row.lines[row.line_count++] = line;
    }
    uint32_t n = t->row_count;
    ARRAY_PUSH(t->rows, t->row_count, row);
    t->cells = xreallocarray(t->cells, (size_t)(n + 1) * t->column_count, sizeof *t->cells);
    struct table_cell *cells = result_table_cells(t, n);
    memset(cells, 0, t->column_count * sizeof *cells);
    return cells;
}

static struct table_cell loop_table_text_cell(char *text)
{
    return (struct table_cell){.is = CELL_TEXT, .text = text};
}

/* Names the function of a block: "main", or "fill, inlined in main". */
static char *loop_table_function(const struct loop_table_builder *b, const struct block_node *n)
{
    if (!*n->function)
        return xstrdup("(unknown)");
    return *n->inlined && strcmp(n->inlined, n->function) != 0
               ? xasprintf("%s, inlined in %s", n->inlined, n->function)
               : xstrdup(n->function);
}

/* Returns "file.c:12-15", from the first to the last source line of the blocks in the file and
 * function of the first one. */
static char *loop_table_location(const struct loop_table_builder *b, const uint32_t *blocks,
                                 uint32_t count, const struct block_node *is)
{
    int first = is->line, last = is->line;
    for (uint32_t i = 0; i < count; i++) {
        const struct block_node *n = &b->graph.nodes[blocks[i]];
        if (!n->line || strcmp(n->file, is->file) != 0 || strcmp(n->inlined, is->inlined) != 0)
            continue;
        first = n->line < first ? n->line : first;
        last = n->line > last ? n->line : last;
    }
    const char *name = strrchr(is->file, '/');
    name = name ? name + 1 : is->file;
    if (!is->line)
        return xstrdup(symbolize(b->names->sites, is->place.process, is->place.address - 1).place);
    return first == last ? xasprintf("%s:%d", name, first)
                         : xasprintf("%s:%d-%d", name, first, last);
}

static void loop_table_set_times(struct loop_table_builder *b, struct table_cell *cells,
                                 int64_t self_ns, int64_t called_ns, int64_t overhead_ns)
{
    int64_t net_ns = self_ns > overhead_ns ? self_ns - overhead_ns : 0;
    cells[SELF] = table_cell_number(self_ns);
    cells[CALLED] = table_cell_number(called_ns);
    cells[OVERHEAD] = table_cell_number(overhead_ns);
    if (overhead_ns)
        cells[NET] = table_cell_number(net_ns);
    if (overhead_ns && cells[COUNT].is == CELL_NUMBER && cells[COUNT].number)
        cells[MEAN] = table_cell_number(net_ns / cells[COUNT].number);
    if (b->all_ns > 0)
        cells[SHARE] = table_cell_real((double)self_ns / (double)b->all_ns);
}

static void loop_table_add_loop(struct loop_table_builder *b, const struct block_loop *loop,
                                uint32_t line)
{
    const struct block_node *n = &b->graph.nodes[loop->header];
    struct block_loop_sums s = block_graph_sum_loop(&b->graph, loop, line);
    if (line && !s.entries && !s.back_edges && !s.unknown)
        return;
    struct table_cell *cells = loop_table_add_row(b, line);
    cells[FUNCTION] = loop_table_text_cell(loop_table_function(b, n));
    cells[LOCATION] = loop_table_text_cell(loop_table_location(b, loop->blocks, loop->count, n));
    cells[PLACE] = table_cell_place((struct table_place){n->place.process, n->place.address - 1});
    cells[THREAD] = table_cell_line(line);
    cells[DEPTH] = table_cell_number(loop->depth);
    cells[ENTRIES] = table_cell_number(s.entries);
    b->untested |= s.iterations_unknown;
    if (!s.iterations_unknown)
        cells[ITERATIONS] = table_cell_number(s.iterations);
    if (s.entries && !s.iterations_unknown)
        cells[PER_ENTRY] = table_cell_real((double)s.iterations / (double)s.entries);
    cells[BACK] = table_cell_number(s.back_edges);
    cells[UNKNOWN] = table_cell_number(s.unknown);
    if (s.timed)
        loop_table_set_times(b, cells, s.self_ns, s.called_ns, s.overhead_ns);
    if (s.timed && !s.recursive)
        cells[TOTAL] = table_cell_number(s.self_ns + s.called_ns);
    b->unknown |= s.unknown != 0;
    b->recursive |= s.timed && s.recursive;
}

static void loop_table_add_block(struct loop_table_builder *b, const struct block_component *c,
                                 uint32_t block, uint32_t line)
{
    const struct block_node *n = &b->graph.nodes[block];
    int64_t count = 0, self_ns = 0, called_ns = 0, overhead_ns = 0;
    bool timed = false;
    for (uint32_t i = c->first_edge; i < c->end_edge; i++) {
        const struct block_graph_edge *e = &b->graph.edges[i];
        if (e->to != block || (line && e->line != line))
            continue;
        count += e->count;
        self_ns += e->self_ns;
        called_ns += e->called_ns;
        overhead_ns += e->overhead_ns;
        timed |= e->timed;
    }
    if (!count)
        return;
    struct table_cell *cells = loop_table_add_row(b, line);
    cells[FUNCTION] = loop_table_text_cell(loop_table_function(b, n));
    cells[LOCATION] = loop_table_text_cell(loop_table_location(b, NULL, 0, n));
    cells[PLACE] = table_cell_place((struct table_place){n->place.process, n->place.address - 1});
    cells[THREAD] = table_cell_line(line);
    cells[COUNT] = table_cell_number(count);
    if (timed)
        loop_table_set_times(b, cells, self_ns, called_ns, overhead_ns);
}

struct loop_table_order {
    const struct block_component *component;
    int64_t self_ns;
    uint32_t number;
};

static int loop_table_by_self(const void *a, const void *b)
{
    const struct loop_table_order *x = a, *y = b;
    if (x->self_ns != y->self_ns)
        return x->self_ns > y->self_ns ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Adds the loops of a function in another loop (BLOCK_GRAPH_NONE: in none), each followed by those
 * in it. */
static void loop_table_add_loops(struct loop_table_builder *b, const struct block_component *c,
                                 uint32_t outer, uint32_t line)
{
    for (uint32_t i = 0; i < b->graph.loop_count; i++) {
        const struct block_loop *loop = &b->graph.loops[i];
        if (loop->outer != outer || loop->header < c->first || loop->header >= c->end)
            continue;
        loop_table_add_loop(b, loop, line);
        loop_table_add_loops(b, c, i, line);
    }
}

static void loop_table_add_function(struct loop_table_builder *b, const struct block_component *c)
{
    for (uint32_t k = 0; k < b->line_count; k++) {
        for (uint32_t i = c->first; i < c->end && b->how->blocks; i++)
            loop_table_add_block(b, c, i, b->lines[k]);
        if (!b->how->blocks)
            loop_table_add_loops(b, c, BLOCK_GRAPH_NONE, b->lines[k]);
    }
}

/* Adds the rows of all functions, that with most self time first. */
static void loop_table_add_rows(struct loop_table_builder *b)
{
    size_t count = b->graph.component_count;
    struct loop_table_order *order = xcalloc(count + 1, sizeof *order);
    for (size_t i = 0; i < count; i++) {
        const struct block_component *c = &b->graph.components[i];
        order[i] = (struct loop_table_order){.component = c, .number = (uint32_t)i};
        for (uint32_t k = c->first_edge; k < c->end_edge; k++)
            order[i].self_ns += b->graph.edges[k].self_ns;
    }
    qsort(order, count, sizeof *order, loop_table_by_self);
    for (size_t i = 0; i < count; i++)
        loop_table_add_function(b, order[i].component);
    free(order);
}

/* ---- order and notes ---- */

struct loop_table_sorted {
    const struct table_cell *cells;
    struct table_row row;
    uint32_t column, number;
    bool backwards;
};

static double loop_table_value(const struct table_cell *cell)
{
    return cell->is == CELL_NUMBER ? (double)cell->number
           : cell->is == CELL_REAL ? cell->real
           : cell->is == CELL_LINE ? -(double)cell->line
                                   : -1e300;
}

static int loop_table_compare(const void *a, const void *b)
{
    const struct loop_table_sorted *x = a, *y = b;
    const struct table_cell *p = &x->cells[x->column], *q = &y->cells[y->column];
    double u = loop_table_value(p), v = loop_table_value(q);
    int order = p->is == CELL_TEXT && q->is == CELL_TEXT ? strcmp(p->text, q->text)
                : u != v                                 ? (u > v ? -1 : 1)
                                                         : 0;
    if (order)
        return x->backwards ? -order : order;
    return x->number < y->number ? -1 : 1;
}

static void loop_table_sort(struct result_table *t, uint32_t column, bool backwards)
{
    struct loop_table_sorted *rows = xcalloc(t->row_count + 1, sizeof *rows);
    struct table_cell *cells = xcalloc((size_t)t->row_count * t->column_count + 1, sizeof *cells);
    for (uint32_t i = 0; i < t->row_count; i++)
        rows[i] =
            (struct loop_table_sorted){result_table_cells(t, i), t->rows[i], column, i, backwards};
    qsort(rows, t->row_count, sizeof *rows, loop_table_compare);
    for (uint32_t i = 0; i < t->row_count; i++) {
        memcpy(cells + (size_t)i * t->column_count, rows[i].cells, t->column_count * sizeof *cells);
        t->rows[i] = rows[i].row;
    }
    free(t->cells);
    t->cells = cells;
    free(rows);
}

static void loop_table_cut(struct result_table *t, uint32_t top)
{
    for (; top && t->row_count > top; t->row_count--) {
        struct table_cell *cells = result_table_cells(t, t->row_count - 1);
        for (uint32_t i = 0; i < t->column_count; i++)
            if (cells[i].is == CELL_TEXT)
                free(cells[i].text);
        free(t->rows[t->row_count - 1].lines);
    }
}

/* Removes the columns of the other table, which are empty. */
static void loop_table_remove_columns(const struct loop_table_builder *b)
{
    struct result_table *t = b->to;
    uint32_t count = 0;
    for (size_t i = 0; i < (size_t)t->row_count * LOOP_COLUMNS; i++)
        if (b->has[i % LOOP_COLUMNS])
            t->cells[count++] = t->cells[i];
    count = 0;
    for (uint32_t i = 0; i < LOOP_COLUMNS; i++) {
        struct table_column *c = &t->columns[i];
        if (b->has[i]) {
            t->columns[count++] = *c;
            continue;
        }
        free(c->name);
        free(c->title);
        free(c->unit);
        free(c->source);
    }
    t->column_count = count;
}

static void loop_table_add_notes(struct loop_table_builder *b)
{
    struct result_table *t = b->to;
    uint32_t irreducible = 0;
    for (uint32_t i = 0; i < b->edges->note_count; i++)
        ARRAY_PUSH(t->notes, t->note_count, xstrdup(b->edges->notes[i]));
    for (size_t i = 0; i < b->graph.component_count; i++)
        irreducible += b->graph.components[i].irreducible != 0;
    if (!b->graph.edge_count)
        ARRAY_PUSH(t->notes, t->note_count,
                   xstrdup("no basic blocks were counted: they are with poetcc -profile=loops"));
    if (b->how->blocks)
        return;
    if (irreducible)
        ARRAY_PUSH(t->notes, t->note_count,
                   xasprintf("%u functions have loops that are entered at several blocks (goto): "
                             "these are not shown",
                             irreducible));
    if (b->unknown)
        ARRAY_PUSH(
            t->notes, t->note_count,
            xstrdup("some blocks were reached from blocks that are not known (signal "
                    "handlers on another stack, coroutines, recursion deeper than 131072 calls, "
                    "counting that began later): "
                    "entries and iterations can be as many more (column unknown)"));
    if (b->untested)
        ARRAY_PUSH(t->notes, t->note_count,
                   xstrdup("the iterations of loops without debug information (-g) are not known "
                           "exactly: as many as back edges, or one more for each entry"));
    if (b->recursive)
        ARRAY_PUSH(t->notes, t->note_count,
                   xstrdup("the total time of loops in recursive functions is not known"));
}

bool loop_table_make(struct result_table *to, const struct loop_table_options *how,
                     const struct table_names *names, const struct result_table *edges)
{
    struct loop_table_builder b = {.to = to, .how = how, .names = names, .edges = edges};
    *to = (struct result_table){0};
    to->title = xstrdup(how->blocks ? "basic blocks" : "loops");
    loop_table_add_columns(&b);
    bool good = loop_table_read_edges(&b);
    uint32_t sort = how->sort ? result_table_find_column(to, how->sort) : 0;
    bool sorts = good && sort < to->column_count && b.has[sort];
    if (sorts) {
        block_graph_find_loops(&b.graph);
        loop_table_find_tests(&b);
        loop_table_add_rows(&b);
        if (how->sort)
            loop_table_sort(to, sort, how->backwards);
        loop_table_cut(to, how->top);
        loop_table_add_notes(&b);
    }
    to->known = edges->known;
    to->count = edges->count;
    loop_table_remove_columns(&b);
    free(b.lines);
    block_graph_free(&b.graph);
    return sorts;
}
