#include "clients/cli/sql_output.h"

#include "base/alloc.h"
#include "clients/cli/table_options.h"
#include "clients/cli/terminal.h"
#include "clients/metadata/text_table.h"
#include "wire/text.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MEASURED 1000u /* rows of text that determine the widths of the columns */

/* Returns the names of the columns, each different from those before it; the caller frees them. */
static char **sql_output_names(sqlite3_stmt *statement, uint32_t count)
{
    char **names = xcalloc(count, sizeof *names);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = sqlite3_column_name(statement, (int)i);
        unsigned same = 0;
        for (uint32_t k = 0; k < i; k++)
            same += strcmp(sqlite3_column_name(statement, (int)k), name) == 0;
        names[i] = same ? xasprintf("%s_%u", name, same + 1) : xstrdup(name);
    }
    return names;
}

static void sql_output_free_names(char **names, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* Returns the bytes of a blob in hexadecimal, X'0A', in new memory. */
static char *sql_output_blob(sqlite3_stmt *statement, int column)
{
    const unsigned char *bytes = sqlite3_column_blob(statement, column);
    int size = sqlite3_column_bytes(statement, column);
    char *text = xcalloc(2 * (size_t)size + 4, 1), *at = text + 2;
    memcpy(text, "X'", 2);
    for (int i = 0; i < size; i++)
        at += sprintf(at, "%02X", bytes[i]);
    *at = '\'';
    return text;
}

/* Returns a value as text, sanitized if it is one, in new memory; NULL: null. */
static char *sql_output_text(sqlite3_stmt *statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL:
        return NULL;
    case SQLITE_INTEGER:
        return xasprintf("%lld", (long long)sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
        return xasprintf("%.17g", sqlite3_column_double(statement, column));
    case SQLITE_BLOB:
        return sql_output_blob(statement, column);
    default:
        return xcheck(text_readable((const char *)sqlite3_column_text(statement, column),
                                    (size_t)sqlite3_column_bytes(statement, column), true),
                      1);
    }
}

/* ---- JSON ---- */

static struct json_object *sql_output_json_value(sqlite3_stmt *statement, int column)
{
    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
        return json_object_new_int64(sqlite3_column_int64(statement, column));
    case SQLITE_FLOAT:
        return json_object_new_double(sqlite3_column_double(statement, column));
    default:
        return json_take_text(sql_output_text(statement, column));
    }
}

static void sql_output_json_line(FILE *f, struct json_object *o)
{
    json_write(f, o);
    fputc('\n', f);
}

static int sql_output_json(FILE *f, struct sql_database *d, sqlite3_stmt *statement, char **names,
                           uint32_t count)
{
    struct json_object *head = json_object_new_object(), *columns = json_object_new_array(),
                       *end = json_object_new_object(), *notes = json_object_new_array();
    int status;
    for (uint32_t i = 0; i < count; i++) {
        struct json_object *column = json_object_new_object();
        json_add_text(column, "name", names[i]);
        json_object_array_add(columns, column);
    }
    json_add_text(head, "table", "query");
    json_add_text(head, "run", d->subject->source.book.run.name);
    json_object_object_add(head, "columns", columns);
    sql_output_json_line(f, head);
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
        struct json_object *line = json_object_new_object(), *row = json_object_new_object();
        for (uint32_t i = 0; i < count; i++)
            json_object_object_add(row, names[i], sql_output_json_value(statement, (int)i));
        json_object_object_add(line, "row", row);
        sql_output_json_line(f, line);
    }
    for (uint32_t i = 0; i < d->note_count; i++)
        json_object_array_add(notes, json_object_new_string(d->notes[i]));
    json_object_object_add(end, "total", json_object_new_object());
    json_object_object_add(end, "notes", notes);
    if (status == SQLITE_DONE)
        sql_output_json_line(f, end);
    else
        json_object_put(end);
    return status;
}

/* ---- CSV ---- */

static int sql_output_csv(FILE *f, sqlite3_stmt *statement, char **names, uint32_t count)
{
    int status;
    for (uint32_t i = 0; i < count; i++) {
        fputs(i ? "," : "", f);
        table_csv_text(f, names[i]);
    }
    fputs("\r\n", f);
    while ((status = sqlite3_step(statement)) == SQLITE_ROW) {
        for (uint32_t i = 0; i < count; i++) {
            char *text = sql_output_text(statement, (int)i);
            fputs(i ? "," : "", f);
            table_csv_text(f, text ? text : "");
            free(text);
        }
        fputs("\r\n", f);
    }
    return status;
}

/* ---- text ---- */

/* The first rows, which determine the widths; later ones are printed as they come. */
struct sql_sheet {
    FILE *f;
    uint32_t columns;
    size_t *widths;
    bool *right; /* only numbers so far */
    char **cells; /* of the rows that were read */
    uint32_t rows;
};

/* Returns a text on one line, as text_print() has it, in new memory; frees the text. */
static char *sql_sheet_line(char *text)
{
    char *line = NULL;
    size_t size;
    FILE *f = text ? open_memstream(&line, &size) : NULL;
    if (f) {
        text_print(f, text);
        fclose(f);
    }
    free(text);
    return line ? line : xstrdup("-");
}

static void sql_sheet_read(struct sql_sheet *s, sqlite3_stmt *statement, char **cells)
{
    for (uint32_t i = 0; i < s->columns; i++) {
        int type = sqlite3_column_type(statement, (int)i);
        bool number = type == SQLITE_INTEGER || type == SQLITE_FLOAT || type == SQLITE_NULL;
        char *text = type == SQLITE_FLOAT
                         ? xasprintf("%.6g", sqlite3_column_double(statement, (int)i))
                         : sql_output_text(statement, (int)i);
        cells[i] = sql_sheet_line(text);
        s->right[i] &= number;
    }
}

static void sql_sheet_print(const struct sql_sheet *s, char *const *cells)
{
    size_t owed = 0; /* blanks before the next text: none at the end of a line */
    for (uint32_t i = 0; i < s->columns; i++) {
        size_t width = text_table_width(cells[i]),
               pad = s->widths[i] > width ? s->widths[i] - width : 0;
        owed += s->right[i] ? pad : 0;
        fprintf(s->f, "%*s%s", (int)owed, "", cells[i]);
        owed = (s->right[i] ? 0 : pad) + 2;
    }
    fputc('\n', s->f);
}

static void sql_sheet_free_cells(char **cells, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        free(cells[i]);
}

/* Prints the titles and the rows that were read. */
static void sql_sheet_begin(struct sql_sheet *s, char **names)
{
    for (uint32_t i = 0; i < s->columns; i++) {
        s->widths[i] = text_table_width(names[i]);
        for (uint32_t row = 0; row < s->rows; row++) {
            size_t width = text_table_width(s->cells[(size_t)row * s->columns + i]);
            s->widths[i] = width > s->widths[i] ? width : s->widths[i];
        }
    }
    fputs(terminal_color_begin(COLOR_HEAD), s->f);
    sql_sheet_print(s, names);
    fputs(terminal_color_end(), s->f);
    for (uint32_t row = 0; row < s->rows; row++)
        sql_sheet_print(s, s->cells + (size_t)row * s->columns);
    sql_sheet_free_cells(s->cells, s->rows * s->columns);
}

static int sql_output_sheet(FILE *f, sqlite3_stmt *statement, char **names, uint32_t count)
{
    struct sql_sheet s = {.f = f, .columns = count};
    int status = SQLITE_DONE;
    s.widths = xcalloc(count, sizeof *s.widths);
    s.right = xcalloc(count, sizeof *s.right);
    s.cells = xcalloc((size_t)ROWS_MEASURED * count, sizeof *s.cells);
    for (uint32_t i = 0; i < count; i++)
        s.right[i] = true;
    while (s.rows < ROWS_MEASURED && (status = sqlite3_step(statement)) == SQLITE_ROW)
        sql_sheet_read(&s, statement, s.cells + (size_t)s.rows++ * count);
    if (status == SQLITE_DONE || status == SQLITE_ROW)
        sql_sheet_begin(&s, names);
    else
        sql_sheet_free_cells(s.cells, s.rows * count);
    while (status == SQLITE_ROW && (status = sqlite3_step(statement)) == SQLITE_ROW) {
        sql_sheet_read(&s, statement, s.cells);
        sql_sheet_print(&s, s.cells);
        sql_sheet_free_cells(s.cells, count);
    }
    free(s.cells);
    free(s.right);
    free(s.widths);
    return status;
}

int sql_output_run(FILE *f, struct sql_database *d, sqlite3_stmt *statement,
                   enum output_format format)
{
    uint32_t count = (uint32_t)sqlite3_column_count(statement);
    char **names = sql_output_names(statement, count);
    int status = format == OUTPUT_JSON  ? sql_output_json(f, d, statement, names, count)
                 : format == OUTPUT_CSV ? sql_output_csv(f, statement, names, count)
                                        : sql_output_sheet(f, statement, names, count);
    for (uint32_t i = 0; i < d->note_count && status == SQLITE_DONE && format == OUTPUT_TEXT; i++)
        fprintf(f, "note: %s\n", d->notes[i]);
    sql_output_free_names(names, count);
    return status;
}
