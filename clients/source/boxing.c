#include "clients/source/boxing.h"

#include "memory/map.h"
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

struct boxing {
    struct boxes *boxes;
    const struct table_names *names;
    const struct shown_table *table;
    uint32_t column,
        self; /* self: stands in where a row has no total; column_count: nothing does */
    bool own;
    struct called { /* each place once: to look one up takes long */
        char *name, *brief; /* brief: NULL */
        uint32_t group;
    } *called;
    uint32_t called_count;
    struct map known; /* process and address -> 1 + index of called */
    uint32_t scope, waited; /* columns; column_count: there is none */
};

/* ---- columns ---- */

static bool says(const struct shown_table *t, uint32_t column)
{
    if (column == t->column_count ||
        (t->columns[column].kind != TABLE_NS && t->columns[column].kind != TABLE_COUNT))
        return false;
    for (uint32_t i = 0; i < t->row_count; i++)
        if (table_cells(t, i)[column].is == CELL_NUMBER)
            return true;
    return false;
}

uint32_t boxing_column(const struct shown_table *t, const char *wanted)
{
    static const char *const usual[] = {"total_ns", "waited_ns", "bytes", "calls", "self_ns"};
    uint32_t column = wanted ? table_find(t, wanted) : t->column_count;
    for (size_t i = 0; !wanted && i < sizeof usual / sizeof *usual; i++)
        if (column == t->column_count && says(t, table_find(t, usual[i])))
            column = table_find(t, usual[i]);
    return says(t, column) ? column : t->column_count;
}

bool boxing_is_own(const struct shown_table *t, uint32_t column)
{
    static const char *const own[] = {"self_ns",    "net_ns",       "cpu_ns", "calls",
                                      "concurrent", "measuring_ns", NULL};
    bool calls = table_find(t, "self_ns") < t->column_count;
    for (size_t i = 0; calls && own[i]; i++)
        if (strcmp(t->columns[column].name, own[i]) == 0)
            return true;
    return false;
}

/* Of a row: in this column, or, where it says nothing, in one that stands under it. */
static const struct table_cell *number_of(const struct shown_table *t, uint32_t row,
                                          uint32_t column)
{
    const struct table_cell *cells = table_cells(t, row);
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

static bool is_said(const struct table_cell *cell)
{
    return cell->is != CELL_NULL && (cell->is != CELL_PLACE || cell->place.address);
}

static char *name_of(const struct boxing *b, uint32_t row)
{
    static const char *const names[] = {"scope", "thread", "where",   "type",
                                        "for",   "step",   "library", NULL};
    const struct shown_table *t = b->table;
    char *all = memory_copied("");
    for (size_t i = 0; names[i] && !(i == 1 && *all); i++) {
        uint32_t column = table_find(t, names[i]);
        if (column == t->column_count || !is_said(&table_cells(t, row)[column]))
            continue;
        char *word = table_say(b->names, &t->columns[column], &table_cells(t, row)[column]);
        char *more = memory_printed("%s%s%s", all, *all && *word ? ", " : "", word);
        free(word);
        free(all);
        all = more;
    }
    return all;
}

/* What the first of these columns tells of a row. */
static const struct table_cell *scope_of(const struct shown_table *t, uint32_t row)
{
    static const char *const names[] = {"scope", "step", "where", NULL};
    static const struct table_cell none;
    for (size_t i = 0; names[i]; i++) {
        uint32_t column = table_find(t, names[i]);
        if (column < t->column_count && is_said(&table_cells(t, row)[column]))
            return &table_cells(t, row)[column];
    }
    return &none;
}

/* "flow.c" of "flow.c:40", "libx.so" of "libx.so+0x10". */
static uint32_t group_of(struct boxing *b, struct site_is site)
{
    const char *end = strrchr(site.place, *site.path ? ':' : '+');
    char *name = end ? memory_copied_part(site.place, (size_t)(end - site.place))
                     : memory_copied(*site.place ? site.place : "?");
    uint32_t group = boxes_group(b->boxes, name);
    free(name);
    return group;
}

static const struct called *called(struct boxing *b, struct table_place place)
{
    uintptr_t known = (uintptr_t)map_get(&b->known, place.process, place.address);
    if (known)
        return &b->called[known - 1];
    struct site_is site = sites_call(b->names->sites, place.process, place.address);
    struct called one = {.brief = *site.function ? memory_copied(site.function) : NULL,
                         .group = group_of(b, site)};
    one.name = table_say_place(b->names, place, "?");
    PUSH(b->called, b->called_count, one);
    map_put(&b->known, place.process, place.address, (void *)(uintptr_t)b->called_count);
    return &b->called[b->called_count - 1];
}

static void forget(struct boxing *b)
{
    for (uint32_t i = 0; i < b->called_count; i++) {
        free(b->called[i].name);
        free(b->called[i].brief);
    }
    free(b->called);
    map_free(&b->known);
}

static void set_kind(struct boxing *b, struct boxes_node *node, uint32_t row)
{
    const struct shown_table *t = b->table;
    const struct table_cell *scope = scope_of(t, row);
    if (b->waited < t->column_count && table_cells(t, row)[b->waited].is == CELL_NUMBER)
        node->kind = BOXES_WAITED;
    else if (scope->is == CELL_PLACE)
        node->group = called(b, scope->place)->group;
    else if (scope->is == CELL_STEP && scope->step == CELL_STEP_CODE)
        node->group = called(b, scope->between.from)->group;
    else if (scope->is == CELL_NAME)
        node->group = boxes_group(b->boxes, "named parts");
    else if (scope->is == CELL_TEXT && *scope->text != '(')
        node->kind = BOXES_WAITED;
    else
        node->kind = BOXES_APART;
}

/* A function by its name, with and without where it is; else by all that the row says. */
static void set_name(struct boxing *b, struct boxes_node *node, uint32_t row)
{
    const struct table_cell *scope =
        b->scope < b->table->column_count ? &table_cells(b->table, row)[b->scope] : NULL;
    if (!scope || scope->is != CELL_PLACE || !scope->place.address) {
        node->name = name_of(b, row);
        return;
    }
    const struct called *function = called(b, scope->place);
    node->name = memory_copied(function->name);
    node->brief = function->brief ? memory_copied(function->brief) : NULL;
}

/* ---- nodes ---- */

static void add_row(struct boxing *b, uint32_t row)
{
    const struct shown_table *t = b->table;
    struct boxes_node *node = boxes_add(b->boxes, (uint16_t)(t->rows[row].depth + 1), NULL);
    const struct table_cell *cell = number_of(t, row, b->column);
    node->row = row;
    if (b->own)
        node->own = size_of(cell);
    else if (cell)
        node->size = size_of(cell);
    else if (b->self < t->column_count)
        node->own = size_of(&table_cells(t, row)[b->self]);
    set_kind(b, node, row);
    set_name(b, node, row);
}

static bool is_bytes(const struct table_column *column)
{
    size_t n = strlen(column->name);
    return column->kind == TABLE_COUNT && n >= 5 && strcmp(column->name + n - 5, "bytes") == 0;
}

/* What the table says; else as wide as it is. */
static void say_amount(const struct boxing *b, struct boxes_node *node)
{
    const struct table_column *column = &b->table->columns[b->column];
    const struct table_cell *cell =
        node->row != UINT32_MAX && !b->own ? number_of(b->table, node->row, b->column) : NULL;
    struct table_cell size = cell_number(node->size);
    char *said;
    if (b->boxes->bytes) {
        char text[40];
        boxes_bytes(cell && cell->is == CELL_NUMBER ? cell->number : node->size, text, sizeof text);
        node->amount = memory_copied(text);
        return;
    }
    said = table_say(b->names, column, cell ? cell : &size);
    node->amount = memory_printed("%s%s%s", said,
                                  column->kind == TABLE_NS ? " ms"
                                  : *column->unit          ? " "
                                                           : "",
                                  column->kind == TABLE_NS ? "" : column->unit);
    free(said);
}

static void add_notes(struct boxing *b)
{
    for (uint32_t i = 0; i < b->table->note_count; i++)
        PUSH(b->boxes->notes, b->boxes->note_count, memory_copied(b->table->notes[i]));
}

void boxing_make(struct boxes *boxes, const struct table_names *names, const struct shown_table *t,
                 uint32_t column)
{
    struct boxing b = {.boxes = boxes,
                       .names = names,
                       .table = t,
                       .column = column,
                       .self = table_find(t, "self_ns"),
                       .own = boxing_is_own(t, column),
                       .scope = table_find(t, "scope"),
                       .waited = table_find(t, "waited_ns")};
    const struct table_cell *total = t->total ? &t->total[column] : NULL;
    bool lives =
        total && column == table_find(t, "total_ns") && table_find(t, "life_ns") < t->column_count;
    *boxes = (struct boxes){.title = memory_copied(t->title),
                            .measure = memory_copied(t->columns[column].title),
                            .ns = t->columns[column].kind == TABLE_NS,
                            .bytes = is_bytes(&t->columns[column])};
    struct boxes_node *all =
        boxes_add(boxes, 0, memory_copied(lives ? "lives of all threads" : "all"));
    all->size = size_of(total);
    all->kind = BOXES_APART;
    for (uint32_t i = 0; i < t->row_count; i++)
        add_row(&b, i);
    boxes_finish(boxes);
    for (uint32_t i = 0; i < boxes->count; i++)
        say_amount(&b, &boxes->nodes[i]);
    add_notes(&b);
    forget(&b);
}
