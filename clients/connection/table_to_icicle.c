#include "clients/connection/table_to_icicle.h"

#include "base/map.h"
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

struct table_to_icicle {
    struct icicle_layout *boxes;
    const struct table_names *names;
    const struct result_table *table;
    uint32_t column, self; /* self: used for rows without a total; column_count: none */
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

static bool table_to_icicle_column_has_values(const struct result_table *t, uint32_t column)
{
    if (column == t->column_count ||
        (t->columns[column].kind != TABLE_NS && t->columns[column].kind != TABLE_COUNT))
        return false;
    for (uint32_t i = 0; i < t->row_count; i++)
        if (result_table_cells(t, i)[column].is == CELL_NUMBER)
            return true;
    return false;
}

uint32_t table_to_icicle_column(const struct result_table *t, const char *wanted)
{
    static const char *const usual[] = {"total_ns", "waited_ns", "unfreed_bytes", "calls",
                                        "self_ns"};
    uint32_t column = wanted ? result_table_find_column(t, wanted) : t->column_count;
    for (size_t i = 0; !wanted && i < sizeof usual / sizeof *usual; i++)
        if (column == t->column_count &&
            table_to_icicle_column_has_values(t, result_table_find_column(t, usual[i])))
            column = result_table_find_column(t, usual[i]);
    return table_to_icicle_column_has_values(t, column) ? column : t->column_count;
}

bool table_to_icicle_is_own(const struct result_table *t, uint32_t column)
{
    static const char *const own[] = {"self_ns",    "net_ns",      "cpu_ns", "calls",
                                      "concurrent", "overhead_ns", NULL};
    bool calls = result_table_find_column(t, "self_ns") < t->column_count;
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

static bool table_to_icicle_has_text(const struct table_cell *cell)
{
    return cell->is != CELL_NULL && (cell->is != CELL_PLACE || cell->place.address);
}

static char *name_of(const struct table_to_icicle *b, uint32_t row)
{
    static const char *const names[] = {"function", "thread",  "location", "type",
                                        "object",   "segment", "library",  NULL};
    const struct result_table *t = b->table;
    char *all = xstrdup("");
    for (size_t i = 0; names[i] && !(i == 1 && *all); i++) {
        uint32_t column = result_table_find_column(t, names[i]);
        if (column == t->column_count ||
            !table_to_icicle_has_text(&result_table_cells(t, row)[column]))
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
            table_to_icicle_has_text(&result_table_cells(t, row)[column]))
            return &result_table_cells(t, row)[column];
    }
    return &none;
}

/* Returns the group of a site: its file, "flow.c" for "flow.c:40", or module, "libx.so" for
 * "libx.so+0x10". */
static uint32_t group_of(struct table_to_icicle *b, struct symbol_location site)
{
    const char *end = strrchr(site.place, *site.path ? ':' : '+');
    char *name = end ? xstrndup(site.place, (size_t)(end - site.place))
                     : xstrdup(*site.place ? site.place : "?");
    uint32_t group = icicle_layout_group(b->boxes, name);
    free(name);
    return group;
}

static const struct icicle_function *table_to_icicle_intern_function(struct table_to_icicle *b,
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

static void table_to_icicle_free_functions(struct table_to_icicle *b)
{
    for (uint32_t i = 0; i < b->called_count; i++) {
        free(b->called[i].name);
        free(b->called[i].brief);
    }
    free(b->called);
    map_free(&b->known);
}

static void set_kind(struct table_to_icicle *b, struct icicle_node *node, uint32_t row)
{
    const struct result_table *t = b->table;
    const struct table_cell *scope = scope_of(t, row);
    if (b->waited < t->column_count && result_table_cells(t, row)[b->waited].is == CELL_NUMBER)
        node->kind = ICICLE_BOX_WAITED;
    else if (scope->is == CELL_PLACE)
        node->group = table_to_icicle_intern_function(b, scope->place)->group;
    else if (scope->is == CELL_STEP && scope->step == CELL_STEP_CODE)
        node->group = table_to_icicle_intern_function(b, scope->between.from)->group;
    else if (scope->is == CELL_NAME)
        node->group = icicle_layout_group(b->boxes, "named parts");
    else if (scope->is == CELL_TEXT && *scope->text != '(')
        node->kind = ICICLE_BOX_WAITED;
    else
        node->kind = ICICLE_BOX_APART;
}

/* Names a node by its function, with and without location; other nodes by all texts of the row. */
static void set_name(struct table_to_icicle *b, struct icicle_node *node, uint32_t row)
{
    const struct table_cell *scope =
        b->scope < b->table->column_count ? &result_table_cells(b->table, row)[b->scope] : NULL;
    if (!scope || scope->is != CELL_PLACE || !scope->place.address) {
        node->name = name_of(b, row);
        return;
    }
    const struct icicle_function *function = table_to_icicle_intern_function(b, scope->place);
    node->name = xstrdup(function->name);
    node->brief = function->brief ? xstrdup(function->brief) : NULL;
}

/* ---- nodes ---- */

static void add_row(struct table_to_icicle *b, uint32_t row)
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

/* Sets the text of a node's size: the value in the table, or else its width. */
static void table_to_icicle_set_amount(const struct table_to_icicle *b, struct icicle_node *node)
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

static void add_notes(struct table_to_icicle *b)
{
    for (uint32_t i = 0; i < b->table->note_count; i++)
        ARRAY_PUSH(b->boxes->notes, b->boxes->note_count, xstrdup(b->table->notes[i]));
}

void table_to_icicle_make(struct icicle_layout *boxes, const struct table_names *names,
                          const struct result_table *t, uint32_t column)
{
    struct table_to_icicle b = {.boxes = boxes,
                                .names = names,
                                .table = t,
                                .column = column,
                                .self = result_table_find_column(t, "self_ns"),
                                .own = table_to_icicle_is_own(t, column),
                                .scope = result_table_find_column(t, "function"),
                                .waited = result_table_find_column(t, "waited_ns")};
    const struct table_cell *total = t->total ? &t->total[column] : NULL;
    bool lives = total && column == result_table_find_column(t, "total_ns") &&
                 result_table_find_column(t, "lifetime_ns") < t->column_count;
    *boxes = (struct icicle_layout){.title = xstrdup(t->title),
                                    .measure = xstrdup(t->columns[column].title),
                                    .ns = t->columns[column].kind == TABLE_NS,
                                    .bytes = is_bytes(&t->columns[column])};
    struct icicle_node *all =
        icicle_layout_add(boxes, 0, xstrdup(lives ? "lifetimes of all threads" : "all"));
    all->size = size_of(total);
    all->kind = ICICLE_BOX_APART;
    for (uint32_t i = 0; i < t->row_count; i++)
        add_row(&b, i);
    icicle_layout_finish(boxes);
    for (uint32_t i = 0; i < boxes->count; i++)
        table_to_icicle_set_amount(&b, &boxes->nodes[i]);
    add_notes(&b);
    table_to_icicle_free_functions(&b);
}
