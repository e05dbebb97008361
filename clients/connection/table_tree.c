#include "clients/connection/table_tree.h"

#include "base/alloc.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

struct icicle_builder {
    struct icicle_layout *boxes;
    const struct table_names *names;
    const struct result_table *table;
    uint32_t column, self; /* self: used for rows without a total; column_count: none */
    uint32_t change; /* difference to another run; column_count: none */
    bool own;
    struct icicle_function { /* cache of symbol lookups */
        char *name, *brief; /* brief: NULL if unknown */
        uint32_t group;
    } *called;
    uint32_t called_count;
    struct map known; /* process and address -> 1 + index of called */
    uint32_t scope, waited; /* columns; column_count: none */
};

/* ---- columns ---- */

static bool table_tree_icicle_column_has_values(const struct result_table *t, uint32_t column)
{
    if (column == t->column_count ||
        (t->columns[column].kind != TABLE_NS && t->columns[column].kind != TABLE_COUNT))
        return false;
    for (uint32_t i = 0; i < t->row_count; i++)
        if (result_table_cells(t, i)[column].is == CELL_NUMBER)
            return true;
    return false;
}

uint32_t table_tree_icicle_column(const struct result_table *t, const char *wanted)
{
    static const char *const usual[] = {"total_ns",      "waited_ns", "leaf_self_ns",
                                        "unfreed_bytes", "calls",     "self_ns"};
    uint32_t column = wanted ? result_table_find_column(t, wanted) : t->column_count;
    for (size_t i = 0; !wanted && i < sizeof usual / sizeof *usual; i++)
        if (column == t->column_count &&
            table_tree_icicle_column_has_values(t, result_table_find_column(t, usual[i])))
            column = result_table_find_column(t, usual[i]);
    return table_tree_icicle_column_has_values(t, column) ? column : t->column_count;
}

/* Returns whether a column has each row's own value (self, net, cpu, calls), which excludes the
 * rows below it; in other columns values include them. */
static bool table_tree_icicle_is_own(const struct result_table *t, uint32_t column)
{
    static const char *const own[] = {"self_ns",    "net_ns",      "cpu_ns", "calls",
                                      "concurrent", "overhead_ns", NULL};
    bool calls =
        result_table_find_column(t, "self_ns") < t->column_count &&
        !table_tree_icicle_column_has_values(t, result_table_find_column(t, "leaf_self_ns"));
    for (size_t i = 0; calls && own[i]; i++)
        if (strcmp(t->columns[column].name, own[i]) == 0)
            return true;
    return false;
}

/* Returns the number in a column of a row, or else in a column under it; NULL: none. */
static const struct table_cell *number_of(const struct result_table *t, uint32_t row,
                                          uint32_t column)
{
    const struct table_cell *cells = result_table_cells(t, row);
    if (cells[column].is == CELL_NUMBER)
        return &cells[column];
    for (uint32_t i = column + 1; i < t->column_count; i++)
        if (t->columns[i].under == column + 1 && cells[i].is == CELL_NUMBER)
            return &cells[i];
    return NULL;
}

static int64_t size_of(const struct table_cell *cell)
{
    return cell && cell->is == CELL_NUMBER && cell->number > 0 ? cell->number : 0;
}

/* ---- names ---- */

static bool table_tree_icicle_has_text(const struct table_cell *cell)
{
    return cell->is != CELL_NULL && (cell->is != CELL_PLACE || cell->place.address);
}

static char *name_of(const struct icicle_builder *b, uint32_t row)
{
    static const char *const names[] = {"function", "thread",  "location", "type",
                                        "object",   "segment", "library",  NULL};
    const struct result_table *t = b->table;
    char *all = xstrdup("");
    for (size_t i = 0; names[i] && !(i == 1 && *all); i++) {
        uint32_t column = result_table_find_column(t, names[i]);
        if (column == t->column_count ||
            !table_tree_icicle_has_text(&result_table_cells(t, row)[column]))
            continue;
        char *word = result_table_cell_text(b->names, &t->columns[column],
                                            &result_table_cells(t, row)[column]);
        char *more = xasprintf("%s%s%s", all, *all && *word ? ", " : "", word);
        free(word);
        free(all);
        all = more;
    }
    return all;
}

/* Returns the first cell of a row that has a text, in order of these columns. */
static const struct table_cell *scope_of(const struct result_table *t, uint32_t row)
{
    static const char *const names[] = {"function", "segment", "location", NULL};
    static const struct table_cell none;
    for (size_t i = 0; names[i]; i++) {
        uint32_t column = result_table_find_column(t, names[i]);
        if (column < t->column_count &&
            table_tree_icicle_has_text(&result_table_cells(t, row)[column]))
            return &result_table_cells(t, row)[column];
    }
    return &none;
}

/* Returns the group of a site: its file, "flow.c" for "flow.c:40", or module, "libx.so" for
 * "libx.so+0x10". */
static uint32_t group_of(struct icicle_builder *b, struct symbol_location site)
{
    const char *end = strrchr(site.place, *site.path ? ':' : '+');
    char *name = end ? xstrndup(site.place, (size_t)(end - site.place))
                     : xstrdup(*site.place ? site.place : "?");
    uint32_t group = icicle_layout_group(b->boxes, name);
    free(name);
    return group;
}

static const struct icicle_function *table_tree_icicle_intern_function(struct icicle_builder *b,
                                                                       struct table_place place)
{
    uintptr_t known = (uintptr_t)map_get(&b->known, place.process, place.address);
    if (known)
        return &b->called[known - 1];
    struct symbol_location site = symbolize(b->names->sites, place.process, place.address);
    struct icicle_function one = {.brief = *site.function ? xstrdup(site.function) : NULL,
                                  .group = group_of(b, site)};
    one.name = result_table_place_text(b->names, place, "?");
    ARRAY_PUSH(b->called, b->called_count, one);
    map_put(&b->known, place.process, place.address, (void *)(uintptr_t)b->called_count);
    return &b->called[b->called_count - 1];
}

static void table_tree_icicle_free_functions(struct icicle_builder *b)
{
    for (uint32_t i = 0; i < b->called_count; i++) {
        free(b->called[i].name);
        free(b->called[i].brief);
    }
    free(b->called);
    map_free(&b->known);
}

static void set_kind(struct icicle_builder *b, struct icicle_node *node, uint32_t row)
{
    const struct result_table *t = b->table;
    const struct table_cell *scope = scope_of(t, row);
    if (b->waited < t->column_count && result_table_cells(t, row)[b->waited].is == CELL_NUMBER)
        node->kind = ICICLE_BOX_WAITED;
    else if (scope->is == CELL_PLACE)
        node->group = table_tree_icicle_intern_function(b, scope->place)->group;
    else if (scope->is == CELL_STEP && scope->step == CELL_STEP_CODE)
        node->group = table_tree_icicle_intern_function(b, scope->between.from)->group;
    else if (scope->is == CELL_NAME)
        node->group = icicle_layout_group(b->boxes, "named parts");
    else if (scope->is == CELL_TEXT && *scope->text != '(')
        node->kind = ICICLE_BOX_WAITED;
    else
        node->kind = ICICLE_BOX_APART;
}

/* Names a node by its function, with and without location; other nodes by all texts of the row. */
static void set_name(struct icicle_builder *b, struct icicle_node *node, uint32_t row)
{
    const struct table_cell *scope =
        b->scope < b->table->column_count ? &result_table_cells(b->table, row)[b->scope] : NULL;
    if (!scope || scope->is != CELL_PLACE || !scope->place.address) {
        node->name = name_of(b, row);
        return;
    }
    const struct icicle_function *function = table_tree_icicle_intern_function(b, scope->place);
    node->name = xstrdup(function->name);
    node->brief = function->brief ? xstrdup(function->brief) : NULL;
}

/* ---- nodes ---- */

static void add_row(struct icicle_builder *b, uint32_t row)
{
    const struct result_table *t = b->table;
    struct icicle_node *node =
        icicle_layout_add(b->boxes, (uint16_t)(t->rows[row].depth + 1), NULL);
    const struct table_cell *cell = number_of(t, row, b->column);
    node->row = row;
    if (b->own)
        node->own = size_of(cell);
    else if (cell)
        node->size = size_of(cell);
    else if (b->self < t->column_count)
        node->own = size_of(&result_table_cells(t, row)[b->self]);
    set_kind(b, node, row);
    set_name(b, node, row);
}

static bool is_bytes(const struct table_column *column)
{
    size_t n = strlen(column->name);
    return column->kind == TABLE_COUNT && n >= 5 && strcmp(column->name + n - 5, "bytes") == 0;
}

/* Returns the column of the difference of a column between two runs; column_count: none. */
static uint32_t table_tree_icicle_find_change(const struct result_table *t, uint32_t column)
{
    size_t n = strlen(t->columns[column].name);
    bool ns = n > 3 && strcmp(t->columns[column].name + n - 3, "_ns") == 0;
    char *name =
        xasprintf("%.*s_diff%s", (int)(ns ? n - 3 : n), t->columns[column].name, ns ? "_ns" : "");
    uint32_t change = result_table_find_column(t, name);
    free(name);
    return change;
}

/* Sets how much each node differs: of own sizes, including everything below it. */
static void table_tree_icicle_set_changes(const struct icicle_builder *b)
{
    struct icicle_layout *boxes = b->boxes;
    if (!boxes->differs)
        return;
    for (uint32_t i = boxes->count; i-- > 1;) {
        struct icicle_node *node = &boxes->nodes[i];
        const struct table_cell *cell = &result_table_cells(b->table, node->row)[b->change];
        node->change += cell->is == CELL_NUMBER ? cell->number : 0;
        if (b->own)
            boxes->nodes[node->parent].change += node->change;
    }
}

static void table_tree_icicle_set_change_text(const struct icicle_builder *b,
                                              struct icicle_node *node)
{
    if (!b->boxes->differs)
        return;
    const struct table_column *column = &b->table->columns[b->change];
    struct table_cell change = table_cell_number(node->change);
    char *text = result_table_cell_text(b->names, column, &change);
    node->change_text = xasprintf("%s%s%s", node->change > 0 && *text != '+' ? "+" : "", text,
                                  column->kind == TABLE_NS ? " ms" : "");
    free(text);
}

/* Sets the text of a node's size: the value in the table, or else its width. */
static void table_tree_icicle_set_amount(const struct icicle_builder *b, struct icicle_node *node)
{
    const struct table_column *column = &b->table->columns[b->column];
    const struct table_cell *cell =
        node->row != UINT32_MAX && !b->own ? number_of(b->table, node->row, b->column) : NULL;
    struct table_cell size = table_cell_number(node->size);
    char *sentence;
    if (b->boxes->bytes) {
        char text[40];
        icicle_layout_bytes(cell && cell->is == CELL_NUMBER ? cell->number : node->size, text,
                            sizeof text);
        node->amount = xstrdup(text);
        return;
    }
    sentence = result_table_cell_text(b->names, column, cell ? cell : &size);
    node->amount = xasprintf("%s%s%s", sentence,
                             column->kind == TABLE_NS ? " ms"
                             : *column->unit          ? " "
                                                      : "",
                             column->kind == TABLE_NS ? "" : column->unit);
    free(sentence);
}

static void icicle_builder_add_notes(struct icicle_builder *b)
{
    for (uint32_t i = 0; i < b->table->note_count; i++)
        ARRAY_PUSH(b->boxes->notes, b->boxes->note_count, xstrdup(b->table->notes[i]));
}

#define GONE_MOST 20u /* notes about what only the other run has */

/* Adds notes about nodes that only the other run has, as these are too narrow to be drawn. */
static void icicle_builder_add_gone(struct icicle_builder *b)
{
    struct icicle_layout *boxes = b->boxes;
    uint32_t gone = 0;
    for (uint32_t i = 1; i < boxes->count && boxes->differs; i++) {
        const struct icicle_node *node = &boxes->nodes[i];
        if (node->size || node->change >= 0)
            continue;
        if (gone++ < GONE_MOST) {
            char *path = icicle_layout_path(boxes, i);
            ARRAY_PUSH(boxes->notes, boxes->note_count,
                       xasprintf("only in the other run: %s (%s)", path, node->change_text));
            free(path);
        }
        i = node->end - 1; /* what it calls is gone, too */
    }
    if (gone > GONE_MOST)
        ARRAY_PUSH(boxes->notes, boxes->note_count,
                   xasprintf("%u more are only in the other run", gone - GONE_MOST));
}

void table_tree_icicle_make(struct icicle_layout *boxes, const struct table_names *names,
                            const struct result_table *t, uint32_t column)
{
    struct icicle_builder b = {.boxes = boxes,
                               .names = names,
                               .table = t,
                               .column = column,
                               .self = result_table_find_column(t, "self_ns"),
                               .change = table_tree_icicle_find_change(t, column),
                               .own = table_tree_icicle_is_own(t, column),
                               .scope = result_table_find_column(t, "function"),
                               .waited = result_table_find_column(t, "waited_ns")};
    const struct table_cell *total = t->total ? &t->total[column] : NULL;
    bool lives = total && column == result_table_find_column(t, "total_ns") &&
                 result_table_find_column(t, "lifetime_ns") < t->column_count;
    *boxes = (struct icicle_layout){.title = xstrdup(t->title),
                                    .measure = xstrdup(t->columns[column].title),
                                    .ns = t->columns[column].kind == TABLE_NS,
                                    .bytes = is_bytes(&t->columns[column]),
                                    .differs = b.change < t->column_count};
    struct icicle_node *all =
        icicle_layout_add(boxes, 0, xstrdup(lives ? "lifetimes of all threads" : "all"));
    all->size = size_of(total);
    all->kind = ICICLE_BOX_APART;
    for (uint32_t i = 0; i < t->row_count; i++)
        add_row(&b, i);
    icicle_layout_finish(boxes);
    table_tree_icicle_set_changes(&b);
    for (uint32_t i = 0; i < boxes->count; i++) {
        table_tree_icicle_set_amount(&b, &boxes->nodes[i]);
        table_tree_icicle_set_change_text(&b, &boxes->nodes[i]);
    }
    icicle_builder_add_notes(&b);
    icicle_builder_add_gone(&b);
    table_tree_icicle_free_functions(&b);
}

/* ---- one function with its callers and callees ---- */

static bool table_tree_is_function(const struct result_table *t, uint32_t row, uint32_t scope,
                                   struct table_place function)
{
    const struct table_cell *cell = &result_table_cells(t, row)[scope];
    return !t->rows[row].depth && cell->is == CELL_PLACE &&
           cell->place.process == function.process && cell->place.address == function.address;
}

/* Sets the order of the rows: callers, the function, callees; returns their number. */
static uint32_t table_tree_order_butterfly(const struct result_table *t, uint32_t head,
                                           uint32_t *order, uint32_t *function)
{
    uint32_t relation = result_table_find_column(t, "relation"), end = head + 1, count = 0;
    while (end < t->row_count && t->rows[end].depth)
        end++;
    for (unsigned callee = 0; callee < 2; callee++) {
        if (callee)
            order[ *function = count++] = head;
        for (uint32_t i = head + 1; i < end; i++) {
            const struct table_cell *cell = &result_table_cells(t, i)[relation];
            if (cell->is == CELL_TEXT && (strcmp(cell->text, "callee") == 0) == callee)
                order[count++] = i;
        }
    }
    return count;
}

int table_tree_butterfly(struct result_table *t, struct table_place function)
{
    uint32_t scope = result_table_find_column(t, "function"), head = 0, at = 0, n = t->column_count;
    if (!t->row_count || scope == n || result_table_find_column(t, "relation") == n)
        return -1;
    for (uint32_t i = 0; i < t->row_count && !head; i++)
        head = table_tree_is_function(t, i, scope, function) ? i : 0;
    uint32_t *order = xcalloc(t->row_count, sizeof *order),
             count = table_tree_order_butterfly(t, head, order, &at);
    struct result_table rest = {.rows = t->rows, .cells = t->cells, .row_count = t->row_count};
    rest.column_count = n;
    t->rows = xcalloc(count, sizeof *t->rows);
    t->cells = xcalloc((size_t)count * n, sizeof *t->cells);
    t->row_count = count;
    for (uint32_t i = 0; i < count; i++) { /* what is kept moves */
        t->rows[i] = rest.rows[order[i]];
        t->rows[i].depth = 0;
        rest.rows[order[i]] = (struct table_row){0};
        memcpy(result_table_cells(t, i), result_table_cells(&rest, order[i]), n * sizeof *t->cells);
        memset(result_table_cells(&rest, order[i]), 0, n * sizeof *t->cells);
    }
    rest.columns = xcalloc(n, sizeof *rest.columns);
    result_table_free(&rest);
    free(order);
    return (int)at;
}

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

static const struct table_cell *table_tree_callgraph_find_cell(const struct callgraph_builder *m,
                                                               uint32_t row, uint32_t column)
{
    static const struct table_cell none;
    return column < m->table->column_count ? &result_table_cells(m->table, row)[column] : &none;
}

static int64_t table_tree_callgraph_cell_number(const struct callgraph_builder *m, uint32_t row,
                                                uint32_t column)
{
    const struct table_cell *c = table_tree_callgraph_find_cell(m, row, column);
    return c->is == CELL_NUMBER && c->number > 0 ? c->number : 0;
}

static char *table_tree_callgraph_cell_text(const struct callgraph_builder *m, uint32_t row,
                                            uint32_t column)
{
    return result_table_cell_text(&m->names, &m->table->columns[column],
                                  table_tree_callgraph_find_cell(m, row, column));
}

/* Returns "total 12.300 ms, self 3.100 ms"; the number of calls if there are no times. */
static char *table_tree_callgraph_amount_text(const struct callgraph_builder *m, uint32_t row)
{
    char *calls = table_tree_callgraph_cell_text(m, row, m->calls), *text = NULL;
    if (table_tree_callgraph_find_cell(m, row, m->self)->is == CELL_NUMBER &&
        table_tree_callgraph_find_cell(m, row, m->total)->is == CELL_NUMBER) {
        char *total = table_tree_callgraph_cell_text(m, row, m->total),
             *self = table_tree_callgraph_cell_text(m, row, m->self);
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
    const struct table_cell *scope = table_tree_callgraph_find_cell(m, row, m->scope);
    struct call_graph_node node = {.name = table_tree_callgraph_cell_text(m, row, m->scope),
                                   .amount = table_tree_callgraph_amount_text(m, row),
                                   .cycle =
                                       (uint32_t)table_tree_callgraph_cell_number(m, row, m->cycle),
                                   .row = row,
                                   .waited = scope->is == CELL_TEXT && *scope->text != '('};
    node.share =
        m->all ? (double)table_tree_callgraph_cell_number(m, row, m->self) / (double)m->all : 0;
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
static bool table_tree_callgraph_same_function(const struct table_cell *a,
                                               const struct table_cell *b)
{
    if (a->is != b->is)
        return false;
    if (a->is == CELL_TEXT)
        return strcmp(a->text, b->text) == 0;
    return (a->is == CELL_PLACE || a->is == CELL_NAME) && a->place.process == b->place.process &&
           a->place.address == b->place.address;
}

static uint32_t table_tree_callgraph_callee_node(const struct callgraph_builder *m, uint32_t row)
{
    for (uint32_t i = 0; i < m->table->row_count; i++)
        if (m->node_of[i] != UINT32_MAX &&
            table_tree_callgraph_same_function(table_tree_callgraph_find_cell(m, i, m->scope),
                                               table_tree_callgraph_find_cell(m, row, m->scope)))
            return m->node_of[i];
    return UINT32_MAX;
}

static void add_arcs(struct callgraph_builder *m)
{
    uint32_t from = UINT32_MAX;
    for (uint32_t i = 0; i < m->table->row_count; i++) {
        uint32_t to = m->table->rows[i].depth ? table_tree_callgraph_callee_node(m, i) : UINT32_MAX;
        if (!m->table->rows[i].depth)
            from = m->node_of[i];
        if (from == UINT32_MAX || to == UINT32_MAX)
            continue;
        struct call_graph_arc arc = {from, to, table_tree_callgraph_cell_text(m, i, m->calls), 0};
        uint32_t size =
            table_tree_callgraph_find_cell(m, i, m->total)->is == CELL_NUMBER ? m->total : m->self;
        arc.share =
            m->all ? (double)table_tree_callgraph_cell_number(m, i, size) / (double)m->all : 0;
        ARRAY_PUSH(m->graph->arcs, m->graph->arc_count, arc);
    }
}

/* ---- the graph ---- */

static void callgraph_builder_add_notes(struct callgraph_builder *m)
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

void table_tree_callgraph_make(struct call_graph *graph, const struct table_names *names,
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
    callgraph_builder_add_notes(&m);
    free(m.node_of);
}

void table_tree_callgraph_free(struct call_graph *g)
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
