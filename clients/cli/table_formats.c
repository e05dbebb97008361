#include "clients/cli/table_formats.h"

#include "clients/cli/terminal_color.h"
#include "clients/cli/json_output.h"
#include "clients/connection/stack_frames.h"
#include "base/alloc.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ---- */

static size_t indent_of(const struct text_table_row *row, uint32_t column)
{
    return column ? 0 : 2 * (size_t)row->depth;
}

static size_t *widths_of(const struct text_table *s)
{
    size_t *widths = xcalloc(s->column_count, sizeof *widths);
    for (uint32_t k = 0; k < s->column_count; k++)
        widths[k] = text_table_width(s->columns[k].title);
    for (uint32_t i = 0; i < s->row_count; i++)
        for (uint32_t k = 0; k < s->column_count; k++) {
            size_t n = indent_of(&s->rows[i], k) + text_table_width(s->rows[i].cells[k]);
            widths[k] = n > widths[k] ? n : widths[k];
        }
    return widths;
}

struct line_so_far {
    FILE *f;
    size_t owed; /* blanks to be written before the next text */
};

static void print_cell(struct line_so_far *l, bool right, size_t width, size_t indent,
                       const char *text)
{
    size_t pad = width - indent - text_table_width(text);
    l->owed += indent + (right ? pad : 0);
    if (*text) {
        fprintf(l->f, "%*s%s", (int)l->owed, "", text);
        l->owed = 0;
    }
    l->owed += (right ? 0 : pad) + 2;
}

/* row NULL: the titles. Writes no trailing blanks. */
static void print_row(FILE *f, const struct text_table *s, const size_t *widths,
                      const struct text_table_row *row)
{
    struct line_so_far l = {f, 0};
    for (uint32_t k = 0; k < s->column_count; k++)
        print_cell(&l, s->columns[k].right, widths[k], row ? indent_of(row, k) : 0,
                   row ? row->cells[k] : s->columns[k].title);
    fputc('\n', f);
}

/* Returns whether there are rows other than the total. */
static bool has_rows(const struct text_table *s) { return s->row_count && !s->rows[0].total; }

void table_format_text(FILE *f, const struct text_table *s, bool first)
{
    size_t *widths = widths_of(s);
    bool color = f == stdout, rows = has_rows(s);
    fprintf(f, "%s%s%s%s\n", first ? "" : "\n", color ? terminal_color_begin(COLOR_HEAD) : "",
            s->title, color ? terminal_color_end() : "");
    if (rows)
        print_row(f, s, widths, NULL);
    for (uint32_t i = 0; rows && i < s->row_count; i++)
        print_row(f, s, widths, &s->rows[i]);
    for (uint32_t i = 0; i < s->note_count; i++)
        fprintf(f, "%s%s\n", s->head ? "" : "note: ", s->notes[i]);
    free(widths);
}

/* ---- JSON ---- */

static struct json_object *json_cell(const struct table_names *names,
                                     const struct table_column *column,
                                     const struct table_cell *cell)
{
    if (cell->is == CELL_NULL || (cell->is == CELL_PLACE && !cell->place.address))
        return NULL;
    if (cell->is == CELL_NUMBER)
        return json_object_new_int64(cell->number);
    if (cell->is == CELL_REAL)
        return json_object_new_double(cell->real);
    return json_take_text(result_table_cell_text(names, column, cell));
}

static void table_format_write_object(FILE *f, struct json_object *o)
{
    json_write(f, o);
    fputc('\n', f);
}

static struct json_object *json_cells(const struct table_names *names, const struct result_table *t,
                                      const struct table_cell *cells, const uint32_t *columns,
                                      uint32_t count)
{
    struct json_object *o = json_object_new_object();
    for (uint32_t i = 0; i < count; i++)
        json_object_object_add(o, t->columns[columns[i]].name,
                               json_cell(names, &t->columns[columns[i]], &cells[columns[i]]));
    return o;
}

static void json_head(FILE *f, const char *what, const struct table_names *names,
                      const struct result_table *t, const uint32_t *columns, uint32_t count)
{
    struct json_object *o = json_object_new_object(), *list = json_object_new_array();
    for (uint32_t i = 0; i < count; i++) {
        const struct table_column *c = &t->columns[columns[i]];
        struct json_object *column = json_object_new_object();
        json_object_object_add(column, "name", json_object_new_string(c->name));
        json_object_object_add(column, "title", json_object_new_string(c->title));
        json_object_object_add(column, "unit", json_object_new_string(c->unit));
        json_object_object_add(column, "kind",
                               json_object_new_string(table_column_kind_name(c->kind)));
        json_object_object_add(column, "exact", json_object_new_boolean(c->exact));
        json_object_object_add(column, "source", json_object_new_string(c->source));
        json_object_array_add(list, column);
    }
    json_object_object_add(o, "table", json_object_new_string(what ? what : t->title));
    json_object_object_add(o, "title", json_object_new_string(t->title));
    json_object_object_add(o, "run", json_object_new_string(names->book->run.name));
    json_object_object_add(o, "start_ns", json_object_new_uint64(names->book->run.wall_ns));
    json_object_object_add(o, "columns", list);
    table_format_write_object(f, o);
}

static void json_row(FILE *f, const struct table_names *names, const struct result_table *t,
                     uint32_t row, const uint32_t *columns, uint32_t count)
{
    const struct table_row *r = &t->rows[row];
    struct json_object *o = json_object_new_object(), *lines = json_object_new_array(),
                       *context = json_object_new_array();
    for (uint32_t i = 0; i < r->line_count; i++)
        json_object_array_add(lines, json_object_new_int64(r->lines[i]));
    for (uint32_t i = 0; i < r->context_count; i++) {
        uint32_t frames = stack_frames_count(names, r->context[i]);
        for (uint32_t k = 0; k < frames; k++)
            json_object_array_add(context,
                                  json_take_text(stack_frames_text(names, r->context[i], k)));
    }
    json_object_object_add(o, "row",
                           json_cells(names, t, result_table_cells(t, row), columns, count));
    json_object_object_add(o, "depth", json_object_new_int64(r->depth));
    json_object_object_add(o, "lines", lines);
    json_object_object_add(o, "event", json_event_id(r->event));
    json_object_object_add(o, "context", context);
    table_format_write_object(f, o);
}

void table_format_json(FILE *f, const char *what, const struct table_names *names,
                       const struct result_table *t, const uint32_t *columns, uint32_t count)
{
    struct json_object *end = json_object_new_object(), *total = json_object_new_object(),
                       *notes = json_object_new_array();
    json_head(f, what, names, t, columns, count);
    for (uint32_t i = 0; i < t->row_count; i++)
        json_row(f, names, t, i, columns, count);
    for (uint32_t i = 0; t->total && i < t->column_count; i++)
        if (t->total[i].is != CELL_NULL)
            json_object_object_add(total, t->columns[i].name,
                                   json_cell(names, &t->columns[i], &t->total[i]));
    for (uint32_t i = 0; i < t->note_count; i++)
        json_object_array_add(notes, json_object_new_string(t->notes[i]));
    json_object_object_add(end, "total", total);
    json_object_object_add(end, "notes", notes);
    table_format_write_object(f, end);
}

/* ---- CSV ---- */

static void csv_text(FILE *f, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        fputs(text, f);
        return;
    }
    fputc('"', f);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

static void csv_cell(FILE *f, const struct table_names *names, const struct table_column *column,
                     const struct table_cell *cell)
{
    if (cell->is == CELL_NULL || (cell->is == CELL_PLACE && !cell->place.address))
        return;
    if (cell->is == CELL_NUMBER) {
        fprintf(f, "%lld", (long long)cell->number);
    } else if (cell->is == CELL_REAL) {
        fprintf(f, "%.17g", cell->real);
    } else {
        char *text = result_table_cell_text(names, column, cell);
        csv_text(f, text);
        free(text);
    }
}

void table_format_csv(FILE *f, const struct table_names *names, const struct result_table *t,
                      const uint32_t *columns, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fputs(i ? "," : "", f);
        csv_text(f, t->columns[columns[i]].name);
    }
    fputs("\r\n", f);
    for (uint32_t row = 0; row < t->row_count; row++) {
        for (uint32_t i = 0; i < count; i++) {
            fputs(i ? "," : "", f);
            csv_cell(f, names, &t->columns[columns[i]], &result_table_cells(t, row)[columns[i]]);
        }
        fputs("\r\n", f);
    }
}
