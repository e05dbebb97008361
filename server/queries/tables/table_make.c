/* Construction of a table: columns, rows, and their order. */
#define _GNU_SOURCE
#include "server/queries/tables/disambiguate.h"
#include "server/queries/tables/table_query.h"

#include "base/alloc.h"
#include "wire/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void table_add_column(struct result_table *t, const char *name, const char *title,
                      enum table_kind kind, const char *source)
{
    static const char *const units[TABLE_KIND_COUNT] = {[TABLE_NS] = "ns", [TABLE_FINE] = "ns"};
    struct table_column column = {.name = xstrdup(name),
                                  .title = xstrdup(title),
                                  .unit = xstrdup(units[kind] ? units[kind] : ""),
                                  .kind = (uint8_t)kind,
                                  .exact = !source,
                                  .source = xstrdup(source ? source : "order")};
    ARRAY_PUSH(t->columns, t->column_count, column);
}

void table_under(struct result_table *t, const char *name)
{
    t->columns[t->column_count - 1].under = result_table_find_column(t, name) + 1;
}

void table_detail(struct result_table *t) { t->columns[t->column_count - 1].detail = true; }

void table_add_columns(struct result_table *t, const struct column_definition *columns,
                       size_t count)
{
    for (const struct column_definition *c = columns; c < columns + count; c++) {
        table_add_column(t, c->name, c->title, c->kind, c->source);
        if (c->under)
            table_under(t, c->under);
        if (c->detail)
            table_detail(t);
    }
}

/* (Doubles the capacity if it is full.) */
static void make_room(struct result_table *t)
{
    uint32_t n = t->row_count;
    if (n & (n - 1))
        return;
    size_t room = n ? 2 * (size_t)n : 1;
    t->rows = xreallocarray(t->rows, room, sizeof *t->rows);
    t->cells = xreallocarray(t->cells, room * t->column_count, sizeof *t->cells);
}

struct table_cell *table_add_row(struct result_table *t, uint8_t depth, struct event_id event)
{
    if (t->row_count == LIMIT_TABLE_ROWS ||
        ((uint64_t)t->row_count + 1) * t->column_count > LIMIT_TABLE_CELLS)
        return NULL;
    make_room(t);
    t->rows[t->row_count] = (struct table_row){.depth = depth, .event = event};
    struct table_cell *cells = result_table_cells(t, t->row_count++);
    memset(cells, 0, t->column_count * sizeof *cells);
    return cells;
}

void table_row_line(struct result_table *t, uint32_t line)
{
    struct table_row *row = &t->rows[t->row_count - 1];
    for (uint32_t i = 0; i < row->line_count; i++)
        if (row->lines[i] == line)
            return;
    if (line)
        ARRAY_PUSH(row->lines, row->line_count, line);
}

struct table_cell *table_make_total(struct result_table *t)
{
    free(t->total);
    return t->total = xcalloc(t->column_count, sizeof *t->total);
}

static char *table_make_limit_text(char *text)
{
    if (strlen(text) > LIMIT_TEXT_BYTES)
        text[LIMIT_TEXT_BYTES] = 0;
    return text;
}

void table_add_note(struct result_table *t, const char *format, ...)
{
    char *note = NULL;
    va_list ap;
    va_start(ap, format);
    if (vasprintf(&note, format, ap) < 0)
        out_of_memory(strlen(format));
    va_end(ap);
    ARRAY_PUSH(t->notes, t->note_count, table_make_limit_text(note));
}

struct table_cell table_cell_text(const char *text)
{
    return (struct table_cell){.is = CELL_TEXT, .text = table_make_limit_text(xstrdup(text))};
}

void table_move(struct result_table *t, struct result_table *made)
{
    made->known = t->known;
    made->count = t->count;
    result_table_free(t);
    *t = *made;
    *made = (struct result_table){0};
}

/* ---- order of rows ---- */

struct table_sorting {
    const struct result_table *table;
    uint32_t column;
    bool descending;
    uint32_t *order, count; /* indices of rows, in their new order */
};

static int compare_numbers(double a, double b) { return a < b ? -1 : a > b; }

static int compare_cells(const struct table_cell *a, const struct table_cell *b)
{
    switch (a->is) {
    case CELL_NUMBER:
        return a->number < b->number ? -1 : a->number > b->number;
    case CELL_REAL:
        return compare_numbers(a->real, b->real);
    case CELL_TEXT:
        return strcmp(a->text, b->text);
    case CELL_LINE:
        return a->line < b->line ? -1 : a->line > b->line;
    case CELL_EVENT:
        if (a->event.line != b->event.line)
            return a->event.line < b->event.line ? -1 : 1;
        return a->event.number < b->event.number ? -1 : a->event.number > b->event.number;
    default:
        return 0;
    }
}

/* Compares rows by the column.  Null values come last; equal ones keep their order. */
static int compare_rows(const void *x, const void *y, void *context)
{
    const struct table_sorting *s = context;
    uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
    const struct table_cell *a = &result_table_cells(s->table, i)[s->column],
                            *b = &result_table_cells(s->table, k)[s->column];
    int order = 0;
    if (a->is != b->is)
        return !a->is ? 1 : !b->is ? -1 : a->is < b->is ? -1 : 1;
    order = compare_cells(a, b);
    order = s->descending ? -order : order;
    return order ? order : i < k ? -1 : 1;
}

/* Returns the first row from `row` on that is not below the given depth, or `end`. */
static uint32_t table_make_end_of_subtree(const struct result_table *t, uint32_t row, uint32_t end,
                                          uint8_t depth)
{
    while (row < end && t->rows[row].depth > depth)
        row++;
    return row;
}

/* Sorts rows first .. end - 1, of which the first has the smallest depth; subtrees move with their
 * roots. */
static void sort_rows(struct table_sorting *s, uint32_t first, uint32_t end)
{
    uint32_t *starts = NULL, n = 0;
    if (first >= end)
        return;
    uint8_t depth = s->table->rows[first].depth;
    for (uint32_t i = first; i < end; i = table_make_end_of_subtree(s->table, i + 1, end, depth))
        ARRAY_PUSH(starts, n, i);
    qsort_r(starts, n, sizeof *starts, compare_rows, s);
    for (uint32_t i = 0; i < n; i++) {
        s->order[s->count++] = starts[i];
        sort_rows(s, starts[i] + 1, table_make_end_of_subtree(s->table, starts[i] + 1, end, depth));
    }
    free(starts);
}

static void table_make_apply_order(struct result_table *t, const uint32_t *order)
{
    struct table_row *rows = xcalloc(t->row_count, sizeof *rows);
    struct table_cell *cells = xcalloc((size_t)t->row_count * t->column_count, sizeof *cells);
    for (uint32_t i = 0; i < t->row_count; i++) {
        rows[i] = t->rows[order[i]];
        memcpy(cells + (size_t)i * t->column_count, result_table_cells(t, order[i]),
               t->column_count * sizeof *cells);
    }
    free(t->rows);
    free(t->cells);
    t->rows = rows;
    t->cells = cells;
}

static void table_make_cut_to_top(struct result_table *t, uint32_t top)
{
    uint32_t row = 0;
    for (uint32_t n = 0; row < t->row_count && n < top; n++)
        row = table_make_end_of_subtree(t, row + 1, t->row_count, t->rows[row].depth);
    for (; t->row_count > row; t->row_count--) {
        struct table_cell *cells = result_table_cells(t, t->row_count - 1);
        for (uint32_t i = 0; i < t->column_count; i++)
            if (cells[i].is == CELL_TEXT)
                free(cells[i].text);
        free(t->rows[t->row_count - 1].lines);
        free(t->rows[t->row_count - 1].context);
    }
}

/* Returns the default order of a column: numbers descend, names ascend. */
static bool table_make_sorts_descending(const struct result_table *t, uint32_t column)
{
    uint8_t kind = t->columns[column].kind;
    return kind == TABLE_NS || kind == TABLE_COUNT || kind == TABLE_SHARE;
}

void table_arrange(struct result_table *t, const struct table_request *r, const char *otherwise)
{
    const char *name = *r->sort ? r->sort : otherwise;
    uint32_t column = name ? result_table_find_column(t, name) : t->column_count;
    if (column < t->column_count && t->row_count) {
        bool back = *r->sort && r->flags & TABLE_BACKWARDS;
        struct table_sorting s = {.table = t,
                                  .column = column,
                                  .descending = table_make_sorts_descending(t, column) != back,
                                  .order = xcalloc(t->row_count, sizeof *s.order)};
        sort_rows(&s, 0, t->row_count);
        table_make_apply_order(t, s.order);
        free(s.order);
    }
    if (r->top)
        table_make_cut_to_top(t, r->top);
    disambiguate_names(t);
}
