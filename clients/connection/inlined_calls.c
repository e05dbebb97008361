#define _GNU_SOURCE
#include "clients/connection/inlined_calls.h"

#include "base/alloc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the tree ---- */

#define INLINED_DEPTH UINT8_MAX
#define NO_ROW UINT32_MAX

/* What is summed of a function. */
struct inlined_sums {
    int64_t self_ns, total_ns, cpu_ns, samples, calls;
};

struct inlined_node {
    char *label;
    bool inlined;
    uint32_t row; /* a row of the original table that is of it; NO_ROW: none */
    uint32_t parent, child, sibling; /* 0: none */
    struct inlined_sums sums;
};

struct inlined_builder {
    struct result_table *table;
    const struct inlined_calls_options *how;
    const struct table_names *names;
    struct inlined_node *nodes; /* [0]: all */
    size_t count, room;
    /* columns */
    uint32_t function, self, self_share, total, total_share, cpu, samples, error, calls, flags,
        site, point, function_share;
    int64_t life_ns, all_samples, sampled_ns; /* of the table's total */
    int64_t unknown_ns; /* CPU time in code without debug information */
};

static uint32_t inlined_node_child(struct inlined_builder *b, uint32_t parent, const char *label,
                                   bool inlined)
{
    for (uint32_t c = b->nodes[parent].child; c; c = b->nodes[c].sibling)
        if (b->nodes[c].inlined == inlined && strcmp(b->nodes[c].label, label) == 0)
            return c;
    b->nodes = array_reserve(b->nodes, &b->room, b->count + 1, sizeof *b->nodes);
    b->nodes[b->count] = (struct inlined_node){.label = xstrdup(label),
                                               .inlined = inlined,
                                               .row = NO_ROW,
                                               .parent = parent,
                                               .sibling = b->nodes[parent].child};
    b->nodes[parent].child = (uint32_t)b->count;
    return (uint32_t)b->count++;
}

static int64_t inlined_number(const struct table_cell *cells, uint32_t column)
{
    return cells[column].is == CELL_NUMBER ? cells[column].number : 0;
}

static void inlined_sums_add(struct inlined_sums *to, const struct inlined_sums *s)
{
    to->self_ns += s->self_ns;
    to->total_ns += s->total_ns;
    to->cpu_ns += s->cpu_ns;
    to->samples += s->samples;
    to->calls += s->calls;
}

/* Enters the functions that were inlined at an address into the one that contains it, each of which
 * has that total time. Returns the innermost one. */
static uint32_t inlined_enter(struct inlined_builder *b, uint32_t node, struct table_place at,
                              int64_t total_ns)
{
    for (uint32_t k = symbolizer_frames(b->names->sites, at.process, at.address); k-- > 1;) {
        struct symbol_location is =
            symbolizer_frame(b->names->sites, at.process, at.address, k - 1);
        char *label = xstrdup(*is.function ? is.function : is.place);
        node = inlined_node_child(b, node, label, true);
        b->nodes[node].sums.total_ns += total_ns;
        free(label);
    }
    return node;
}

static void inlined_add_point(struct inlined_builder *b, uint32_t node, struct table_place at,
                              struct inlined_sums sums)
{
    struct symbol_location is = symbolize(b->names->sites, at.process, at.address);
    if (!is.line)
        b->unknown_ns += sums.cpu_ns;
    node = inlined_enter(b, node, at, sums.self_ns);
    sums.total_ns = 0;
    inlined_sums_add(&b->nodes[node].sums, &sums);
}

/* Adds a row below a node. Returns the node of its function. */
static uint32_t inlined_add_row(struct inlined_builder *b, uint32_t node, uint32_t row)
{
    const struct table_cell *cells = result_table_cells(b->table, row);
    struct inlined_sums sums = {inlined_number(cells, b->self), inlined_number(cells, b->total),
                                inlined_number(cells, b->cpu), inlined_number(cells, b->samples),
                                inlined_number(cells, b->calls)};
    if (cells[b->point].is == CELL_PLACE) {
        inlined_add_point(b, node, cells[b->point].place, sums);
        return node;
    }
    if (cells[b->site].is == CELL_PLACE)
        node = inlined_enter(b, node, cells[b->site].place, sums.total_ns);
    char *label =
        result_table_cell_text(b->names, &b->table->columns[b->function], &cells[b->function]);
    node = inlined_node_child(b, node, label, false);
    b->nodes[node].row = b->nodes[node].row == NO_ROW ? row : b->nodes[node].row;
    inlined_sums_add(&b->nodes[node].sums, &sums);
    free(label);
    return node;
}

static void inlined_read_rows(struct inlined_builder *b)
{
    uint32_t at[INLINED_DEPTH + 2] = {0}; /* by depth + 1: the latest node */
    for (uint32_t i = 0; i < b->table->row_count; i++) {
        unsigned depth = b->table->rows[i].depth;
        at[depth + 1] = inlined_add_row(b, at[depth], i);
    }
}

/* ---- functions: the sums of all nodes of one label ---- */

static uint32_t inlined_thread_of(const struct inlined_builder *b, uint32_t node)
{
    while (b->how->by_thread && b->nodes[node].parent)
        node = b->nodes[node].parent;
    return b->how->by_thread ? node : 0;
}

/* Returns whether a node is below one of the same function, the total of which includes its own. */
static bool inlined_is_recursive(const struct inlined_builder *b, uint32_t node)
{
    const struct inlined_node *n = &b->nodes[node];
    for (uint32_t up = n->parent; up; up = b->nodes[up].parent)
        if (b->nodes[up].inlined == n->inlined && strcmp(b->nodes[up].label, n->label) == 0)
            return true;
    return false;
}

/* Makes a flat tree of the other one: the functions of each thread, or of all. */
static void inlined_flatten(struct inlined_builder *b)
{
    struct inlined_builder flat = *b;
    flat.nodes = xcalloc(1, sizeof *flat.nodes);
    flat.count = flat.room = 1;
    for (uint32_t i = 1; i < b->count; i++) {
        const struct inlined_node *n = &b->nodes[i];
        uint32_t thread = inlined_thread_of(b, i),
                 parent = thread && thread != i
                              ? inlined_node_child(&flat, 0, b->nodes[thread].label, false)
                              : 0,
                 to = inlined_node_child(&flat, parent, n->label, n->inlined);
        struct inlined_sums sums = n->sums;
        if (inlined_is_recursive(b, i))
            sums.total_ns = 0;
        flat.nodes[to].row = flat.nodes[to].row == NO_ROW ? n->row : flat.nodes[to].row;
        inlined_sums_add(&flat.nodes[to].sums, &sums);
    }
    for (size_t i = 0; i < b->count; i++)
        free(b->nodes[i].label);
    free(b->nodes);
    *b = flat;
}

/* ---- rows ---- */

struct inlined_output {
    struct inlined_builder *b;
    struct table_row *rows;
    struct table_cell *cells;
    uint32_t count;
    uint32_t sort; /* column; column_count: none */
};

static void inlined_set_share(const struct inlined_builder *b, struct table_cell *cell, int64_t ns)
{
    if (b->life_ns > 0 && cell->is != CELL_NULL)
        *cell = table_cell_real((double)ns / (double)b->life_ns);
}

/* Half the width of the 95 % confidence interval of a time, as the server computes it. */
static int64_t inlined_error_ns(const struct inlined_builder *b, int64_t samples)
{
    double all = (double)b->all_samples + 4, share = ((double)samples + 2) / all;
    return (int64_t)(1.96 * sqrt(share * (1 - share) / all) * (double)b->sampled_ns + .5);
}

static void inlined_set_sums(const struct inlined_builder *b, struct table_cell *cells,
                             const struct inlined_node *n)
{
    bool sampled = n->inlined || cells[b->samples].is == CELL_NUMBER;
    cells[b->self] = table_cell_number(n->sums.self_ns);
    cells[b->total] = table_cell_number(n->sums.total_ns);
    cells[b->cpu] = table_cell_number(n->sums.cpu_ns);
    cells[b->self_share].is = cells[b->total_share].is = CELL_REAL;
    inlined_set_share(b, &cells[b->self_share], n->sums.self_ns);
    inlined_set_share(b, &cells[b->total_share], n->sums.total_ns);
    if (cells[b->calls].is == CELL_NUMBER)
        cells[b->calls] = table_cell_number(n->sums.calls);
    const struct inlined_node *caller = &b->nodes[n->parent];
    bool called = b->how->tree && n->parent && (caller->parent || !b->how->by_thread);
    if (b->function_share < b->table->column_count)
        cells[b->function_share] =
            called && caller->sums.total_ns > 0
                ? table_cell_real((double)n->sums.total_ns / (double)caller->sums.total_ns)
                : (struct table_cell){0};
    if (!sampled)
        return;
    cells[b->samples] = table_cell_number(n->sums.samples);
    cells[b->error] = table_cell_number(inlined_error_ns(b, n->sums.samples));
}

static struct table_cell inlined_copy_cell(const struct table_cell *cell)
{
    struct table_cell copy = *cell;
    if (copy.is == CELL_TEXT)
        copy.text = xstrdup(cell->text);
    return copy;
}

static struct table_cell inlined_text_cell(const char *text)
{
    return (struct table_cell){.is = CELL_TEXT, .text = xstrdup(text)};
}

static void inlined_print_node(struct inlined_output *o, uint32_t node, uint8_t depth)
{
    struct inlined_builder *b = o->b;
    const struct inlined_node *n = &b->nodes[node];
    uint32_t columns = b->table->column_count;
    struct table_cell *cells = o->cells + (size_t)o->count * columns;
    struct table_row *row = &o->rows[o->count++];
    *row = (struct table_row){.depth = depth};
    memset(cells, 0, columns * sizeof *cells);
    for (uint32_t i = 0; i < columns && n->row != NO_ROW; i++)
        cells[i] = inlined_copy_cell(&result_table_cells(b->table, n->row)[i]);
    if (n->row != NO_ROW && b->table->rows[n->row].line_count) {
        *row = b->table->rows[n->row];
        row->depth = depth;
        b->table->rows[n->row] = (struct table_row){0};
    }
    if (n->row == NO_ROW) {
        cells[b->function] = inlined_text_cell(n->label);
        cells[b->flags] = inlined_text_cell("inlined");
    }
    inlined_set_sums(b, cells, n);
}

static double inlined_sort_value(const struct inlined_output *o, const struct inlined_node *n)
{
    const struct inlined_builder *b = o->b;
    if (o->sort == b->samples)
        return (double)n->sums.samples;
    if (o->sort == b->cpu)
        return (double)n->sums.cpu_ns;
    if (o->sort == b->calls)
        return (double)n->sums.calls;
    return (double)(o->sort == b->self || o->sort == b->self_share ? n->sums.self_ns
                                                                   : n->sums.total_ns);
}

static int inlined_compare(const void *x, const void *y, void *context)
{
    const struct inlined_output *o = context;
    const struct inlined_node *p = &o->b->nodes[*(const uint32_t *)x],
                              *q = &o->b->nodes[*(const uint32_t *)y];
    double a = inlined_sort_value(o, p), c = inlined_sort_value(o, q);
    int order = a > c ? -1 : a < c ? 1 : strcmp(p->label, q->label);
    return o->b->how->backwards ? -order : order;
}

/* Prints the nodes below one, the largest first, and what is below them. */
static void inlined_print_below(struct inlined_output *o, uint32_t node, unsigned depth)
{
    uint32_t *children = NULL, count = 0, most = o->b->how->top;
    bool limited = most && depth == (o->b->how->by_thread && !o->b->how->tree ? 1u : 0u);
    for (uint32_t c = o->b->nodes[node].child; c; c = o->b->nodes[c].sibling)
        ARRAY_PUSH(children, count, c);
    if (count)
        qsort_r(children, count, sizeof *children, inlined_compare, o);
    for (uint32_t i = 0; i < count && !(limited && i == most); i++) {
        inlined_print_node(o, children[i], (uint8_t)depth);
        if (depth < INLINED_DEPTH)
            inlined_print_below(o, children[i], depth + 1);
    }
    free(children);
}

/* Replaces the rows of the table, and drops the columns that only served for this. */
static void inlined_replace_rows(struct inlined_builder *b, struct inlined_output *o)
{
    struct result_table *t = b->table;
    uint32_t kept = t->column_count - 2; /* the two are the last ones */
    for (uint32_t i = 0; i < t->row_count; i++)
        for (uint32_t c = 0; c < t->column_count; c++)
            if (result_table_cells(t, i)[c].is == CELL_TEXT)
                free(result_table_cells(t, i)[c].text);
    for (uint32_t i = 0; i < t->row_count; i++) {
        free(t->rows[i].lines);
        free(t->rows[i].context);
    }
    for (uint32_t i = 0; i < o->count; i++)
        memmove(o->cells + (size_t)i * kept, o->cells + (size_t)i * t->column_count,
                kept * sizeof *o->cells);
    for (uint32_t c = kept; c < t->column_count; c++) {
        free(t->columns[c].name);
        free(t->columns[c].title);
        free(t->columns[c].unit);
        free(t->columns[c].source);
    }
    free(t->rows);
    free(t->cells);
    t->rows = o->rows;
    t->cells = o->cells;
    t->row_count = o->count;
    t->column_count = kept;
}

static void inlined_add_note(struct inlined_builder *b)
{
    char *note = xasprintf(
        "functions that the compiler inlined have rows of their own (inlined), by debug "
        "information; %.1f %% of the CPU time is in code without it, where they count for their "
        "callers",
        b->sampled_ns > 0 ? 100 * (double)b->unknown_ns / (double)b->sampled_ns : 0.0);
    struct result_table *t = b->table; /* (its notes were decoded, with no more room) */
    t->notes = xreallocarray(t->notes, t->note_count + 1, sizeof *t->notes);
    t->notes[t->note_count++] = note;
}

static bool inlined_find_columns(struct inlined_builder *b)
{
    static const char *const names[] = {"function",    "self_ns", "self_share", "total_ns",
                                        "total_share", "cpu_ns",  "samples",    "error_ns",
                                        "calls",       "flags",   "site",       "point"};
    uint32_t *const to[] = {&b->function,    &b->self,  &b->self_share, &b->total,
                            &b->total_share, &b->cpu,   &b->samples,    &b->error,
                            &b->calls,       &b->flags, &b->site,       &b->point};
    bool all = true;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        *to[i] = result_table_find_column(b->table, names[i]);
        all &= *to[i] < b->table->column_count;
    }
    b->function_share = result_table_find_column(b->table, "function_share");
    return all && b->point == b->table->column_count - 1 && b->site == b->point - 1;
}

void inlined_calls_expand(struct result_table *t, const struct inlined_calls_options *how,
                          const struct table_names *names)
{
    struct inlined_builder b = {.table = t, .how = how, .names = names};
    if (t->problem || !t->total || !inlined_find_columns(&b))
        return;
    b.life_ns = inlined_number(t->total, b.total);
    b.all_samples = inlined_number(t->total, b.samples);
    b.sampled_ns = inlined_number(t->total, b.cpu);
    b.nodes = xcalloc(1, sizeof *b.nodes);
    b.count = b.room = 1;
    inlined_read_rows(&b);
    if (!how->tree)
        inlined_flatten(&b);
    struct inlined_output o = {.b = &b,
                               .rows = xcalloc(b.count, sizeof *o.rows),
                               .cells = xcalloc(b.count * t->column_count, sizeof *o.cells),
                               .sort = how->sort   ? result_table_find_column(t, how->sort)
                                       : how->tree ? b.total
                                                   : b.self};
    inlined_print_below(&o, 0, 0);
    inlined_replace_rows(&b, &o);
    inlined_add_note(&b);
    for (size_t i = 0; i < b.count; i++)
        free(b.nodes[i].label);
    free(b.nodes);
}
