/* Output of tables in the requested format (table_options.h). */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "clients/cli/chart_output.h"
#include "clients/cli/command_source.h"
#include "clients/cli/finding_options.h"
#include "clients/cli/narrow_table.h"
#include "clients/cli/output_format.h"
#include "clients/cli/paper_size.h"
#include "clients/cli/table_options.h"
#include "clients/cli/terminal.h"
#include "clients/connection/result_table.h"
#include "clients/connection/stack_frames.h"
#include "render/table_page.h"

#include <errno.h>
#include <fnmatch.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- text: aligned, with totals and notes ---- */

static size_t table_text_indent(const struct text_table_row *row, uint32_t column)
{
    return column ? 0 : 2 * (size_t)row->depth;
}

static size_t *table_text_widths(const struct text_table *s)
{
    size_t *widths = xcalloc(s->column_count, sizeof *widths);
    for (uint32_t k = 0; k < s->column_count; k++)
        widths[k] = text_table_width(s->columns[k].title);
    for (uint32_t i = 0; i < s->row_count; i++)
        for (uint32_t k = 0; k < s->column_count; k++) {
            size_t n = table_text_indent(&s->rows[i], k) + text_table_width(s->rows[i].cells[k]);
            widths[k] = n > widths[k] ? n : widths[k];
        }
    return widths;
}

struct line_so_far {
    FILE *f;
    size_t owed; /* blanks to be written before the next text */
};

static void table_text_print_cell(struct line_so_far *l, bool right, size_t width, size_t indent,
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
static void table_text_print_row(FILE *f, const struct text_table *s, const size_t *widths,
                                 const struct text_table_row *row)
{
    struct line_so_far l = {f, 0};
    for (uint32_t k = 0; k < s->column_count; k++)
        table_text_print_cell(&l, s->columns[k].right, widths[k],
                              row ? table_text_indent(row, k) : 0,
                              row ? row->cells[k] : s->columns[k].title);
    fputc('\n', f);
}

/* Returns whether there are rows other than the total. */
static bool table_text_has_rows(const struct text_table *s)
{
    return s->row_count && !s->rows[0].total;
}

/* Aligned, with totals and notes; preceded by a blank line unless it is the first. */
static void table_text_print(FILE *f, const struct text_table *s, bool first)
{
    size_t *widths = table_text_widths(s);
    bool color = f == stdout, rows = table_text_has_rows(s);
    fprintf(f, "%s%s%s%s\n", first ? "" : "\n", color ? terminal_color_begin(COLOR_HEAD) : "",
            s->title, color ? terminal_color_end() : "");
    if (rows)
        table_text_print_row(f, s, widths, NULL);
    for (uint32_t i = 0; rows && i < s->row_count; i++)
        table_text_print_row(f, s, widths, &s->rows[i]);
    for (uint32_t i = 0; i < s->note_count; i++)
        fprintf(f, "%s%s\n", s->head ? "" : "note: ", s->notes[i]);
    free(widths);
}

/* ---- JSON ---- */

static struct json_object *table_json_cell(const struct table_names *names,
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

static void table_json_print_object(FILE *f, struct json_object *o)
{
    json_write(f, o);
    fputc('\n', f);
}

static struct json_object *table_json_cells(const struct table_names *names,
                                            const struct result_table *t,
                                            const struct table_cell *cells, const uint32_t *columns,
                                            uint32_t count)
{
    struct json_object *o = json_object_new_object();
    for (uint32_t i = 0; i < count; i++)
        json_object_object_add(o, t->columns[columns[i]].name,
                               table_json_cell(names, &t->columns[columns[i]], &cells[columns[i]]));
    return o;
}

static void table_json_head(FILE *f, const char *what, const struct table_names *names,
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
    table_json_print_object(f, o);
}

struct json_object *table_row_json(const struct table_names *names, const struct result_table *t,
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
                           table_json_cells(names, t, result_table_cells(t, row), columns, count));
    json_object_object_add(o, "depth", json_object_new_int64(r->depth));
    json_object_object_add(o, "lines", lines);
    json_object_object_add(o, "event", json_event_id(r->event));
    json_object_object_add(o, "context", context);
    return o;
}

/* what: a stable identifier of the table for scripts; NULL: the title. */
static void table_json_print(FILE *f, const char *what, const struct table_names *names,
                             const struct result_table *t, const uint32_t *columns, uint32_t count)
{
    struct json_object *end = json_object_new_object(), *total = json_object_new_object(),
                       *notes = json_object_new_array();
    table_json_head(f, what, names, t, columns, count);
    for (uint32_t i = 0; i < t->row_count; i++)
        table_json_print_object(f, table_row_json(names, t, i, columns, count));
    for (uint32_t i = 0; t->total && i < t->column_count; i++)
        if (t->total[i].is != CELL_NULL)
            json_object_object_add(total, t->columns[i].name,
                                   table_json_cell(names, &t->columns[i], &t->total[i]));
    for (uint32_t i = 0; i < t->note_count; i++)
        json_object_array_add(notes, json_object_new_string(t->notes[i]));
    json_object_object_add(end, "total", total);
    json_object_object_add(end, "notes", notes);
    table_json_print_object(f, end);
}

/* ---- CSV ---- */

void table_csv_text(FILE *f, const char *text)
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

static void table_csv_cell(FILE *f, const struct table_names *names,
                           const struct table_column *column, const struct table_cell *cell)
{
    if (cell->is == CELL_NULL || (cell->is == CELL_PLACE && !cell->place.address))
        return;
    if (cell->is == CELL_NUMBER) {
        fprintf(f, "%lld", (long long)cell->number);
    } else if (cell->is == CELL_REAL) {
        fprintf(f, "%.17g", cell->real);
    } else {
        char *text = result_table_cell_text(names, column, cell);
        table_csv_text(f, text);
        free(text);
    }
}

/* RFC 4180: null is empty, times are whole ns. */
static void table_csv_print(FILE *f, const struct table_names *names, const struct result_table *t,
                            const uint32_t *columns, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        fputs(i ? "," : "", f);
        table_csv_text(f, t->columns[columns[i]].name);
    }
    fputs("\r\n", f);
    for (uint32_t row = 0; row < t->row_count; row++) {
        for (uint32_t i = 0; i < count; i++) {
            fputs(i ? "," : "", f);
            table_csv_cell(f, names, &t->columns[columns[i]],
                           &result_table_cells(t, row)[columns[i]]);
        }
        fputs("\r\n", f);
    }
}

/* ---- one command ---- */

/* The output of one command. */
struct table_writer {
    const struct table_settings *tables;
    struct command_source *subject;
    enum output_format format;
    FILE *f; /* for text, JSON and CSV */
    struct text_table *sheets; /* for an image */
    uint32_t sheet_count;
    bool some; /* a table was written */
};

/* ---- writing ---- */

/* Sets the title, with the name of the run unless the page has a heading about it. */
static void table_output_set_title(struct text_table *sheet, const struct table_section *section,
                                   const struct table_names *names, const struct result_table *t)
{
    const char *title = section->title ? section->title : t->title;
    free(sheet->title);
    sheet->title =
        section->page ? xstrdup(title) : xasprintf("%s: %s", names->book->run.name, title);
}

/* Appends the start of the run to the first title; on a terminal also its age. */
static void table_output_date_title(struct text_table *sheet, const struct session *source,
                                    bool age)
{
    char *begun = command_source_begin_named(source, age),
         *title = xasprintf("%s; run of %s", sheet->title, begun);
    free(begun);
    free(sheet->title);
    sheet->title = title;
}

static void table_output_write_sheet(struct table_writer *w, const struct table_section *section,
                                     const struct table_names *names, const struct result_table *t,
                                     const uint32_t *columns, uint32_t count)
{
    struct text_table sheet = {0};
    if (section->rare && !t->row_count && !(section->words && t->total))
        return;
    if (section->words) {
        section->words(&sheet, names, t);
    } else {
        result_table_to_text(&sheet, names, t, columns, count);
        table_output_set_title(&sheet, section, names, t);
    }
    if (!w->some && !w->sheet_count && !section->page)
        table_output_date_title(&sheet, &w->subject->source,
                                w->format == OUTPUT_TEXT && w->f == stdout && pager_is_terminal());
    if (w->format != OUTPUT_TEXT) {
        ARRAY_PUSH(w->sheets, w->sheet_count, sheet);
        return;
    }
    if (!section->words)
        narrow_table_shorten(&sheet);
    table_text_print(w->f, &sheet, !w->some);
    text_table_free(&sheet);
}

/* Difference columns follow the columns that they belong to: naming the latter selects both. The
 * caller frees the result. */
static char *table_output_with_differences(const struct result_table *t, const char *list)
{
    char *words = xstrdup(list), *all = xstrdup(""), *rest = words, *word;
    while ((word = strsep(&rest, ","))) {
        uint32_t k = result_table_find_column(t, word), end = k + 1;
        char *more = xasprintf("%s%s%s", all, *all ? "," : "", word);
        free(all);
        for (all = more; end < t->column_count && end < k + 3; end++) {
            const char *name = t->columns[end].name;
            if (!strstr(name, end == k + 1 ? "_diff" : "_percent"))
                break;
            more = xasprintf("%s,%s", all, name);
            free(all);
            all = more;
        }
    }
    free(words);
    return all;
}

static int table_output_write_table(struct table_writer *w, const struct table_section *section,
                                    const struct result_table *t)
{
    struct table_names names = {&w->subject->source.book, w->subject->sites};
    bool data = w->format == OUTPUT_JSON || w->format == OUTPUT_CSV;
    const char *list = section->columns && !data ? section->columns : w->tables->columns;
    bool all = !list && data;
    char *unknown = NULL,
         *both = list && w->tables->baseline ? table_output_with_differences(t, list) : NULL;
    uint32_t count, *columns = result_table_choose_columns(t,
                                                           all    ? "all"
                                                           : both ? both
                                                                  : list,
                                                           &count, &unknown);
    free(both);
    if (!columns) {
        int status = table_request_missing_column(w->tables, t, "--columns", unknown);
        free(unknown);
        return status;
    }
    if (w->format == OUTPUT_JSON)
        table_json_print(w->f, section->what, &names, t, columns, count);
    else if (w->format == OUTPUT_CSV)
        table_csv_print(w->f, &names, t, columns, count);
    else
        table_output_write_sheet(w, section, &names, t, columns, count);
    w->some = true;
    free(columns);
    return EXIT_DONE;
}

static void table_output_add_note(struct result_table *t, const char *note)
{
    t->notes = xreallocarray(t->notes, t->note_count + 1, sizeof *t->notes);
    t->notes[t->note_count++] = xstrdup(note);
}

static int table_output_write_section(struct table_writer *w, const struct table_section *section)
{
    struct result_table table = {0};
    if (section->page && section->by_time && w->tables->past_of.line)
        return EXIT_DONE;
    int status = table_request_run(w->tables, section, w->subject, &table);
    if (status == EXIT_DONE && w->tables->baseline && !section->make)
        status = table_request_difference(w->tables, section, w->subject, &table);
    if (status == EXIT_DONE && section->note)
        table_output_add_note(&table, section->note);
    if (status == EXIT_DONE)
        status = table_output_write_table(w, section, &table);
    result_table_free(&table);
    return status;
}

/* ---- output file ---- */

/* Returns the format of a file by its suffix; OUTPUT_NO_FORMAT: tables have none of that name. */
static enum output_format table_output_format(const char *file)
{
    enum output_format format = output_format_of(file);
    return format == OUTPUT_HTML ? OUTPUT_NO_FORMAT : format;
}

bool table_output_may_be_named(const char *file)
{
    return table_output_format(file) != OUTPUT_NO_FORMAT;
}

static enum output_format table_output_choose_format(const struct table_settings *o)
{
    if (o->json || o->csv)
        return o->json ? OUTPUT_JSON : OUTPUT_CSV;
    return o->file ? table_output_format(o->file) : OUTPUT_TEXT;
}

static int table_output_write_picture(const struct table_writer *w)
{
    struct document_options page = w->tables->page;
    const struct trace_metadata *book = &w->subject->source.book;
    page.format = output_format_document(w->format);
    page.date = (time_t)(book->run.wall_ns / 1000000000u);
    page.title = w->sheet_count ? w->sheets[0].title : NULL;
    if (w->tables->paper && w->format == OUTPUT_PDF && page.width_pt <= 0)
        paper_size_is_portrait(&page);
    const char *why;
    return table_page_write(w->sheets, w->sheet_count, &page, w->tables->file, &why)
               ? EXIT_DONE
               : command_fail(w->tables->command, "%s: %s", w->tables->file, why);
}

static int table_output_write_all(struct table_writer *w, const struct table_section *sections,
                                  size_t count)
{
    int status = EXIT_DONE;
    for (size_t i = 0; i < count && status == EXIT_DONE; i++)
        status = table_output_write_section(w, &sections[i]);
    return status;
}

/* Writes to FILE.part and renames it, so that an error leaves no partial file. */
static int table_output_write_file(struct table_writer *w, const struct table_section *sections,
                                   size_t count)
{
    const char *file = w->tables->file;
    char *part = xasprintf("%s.part", file);
    table_progress_set_file(part);
    w->f = fopen(part, "we");
    int status = w->f ? table_output_write_all(w, sections, count)
                      : command_fail(w->tables->command, "%s: %s", file, strerror(errno));
    if (w->f) {
        bool bad = ferror(w->f);
        bad |= fclose(w->f) != 0;
        if (status == EXIT_DONE && (bad || rename(part, file) < 0))
            status = command_fail(w->tables->command, "%s: %s", file, strerror(errno));
        if (status != EXIT_DONE)
            unlink(part);
    }
    table_progress_set_file(NULL);
    free(part);
    return status;
}

/* ---- following a live run ---- */

struct table_follow {
    struct table_writer *writer;
    const struct table_section *sections;
    size_t count;
};

static int table_output_write_again(void *user)
{
    const struct table_follow *f = user;
    f->writer->f = stdout;
    f->writer->some &= !isatty(STDOUT_FILENO); /* each time the first one, where it is redrawn */
    return table_output_write_all(f->writer, f->sections, f->count);
}

static int table_output_follow_run(struct table_writer *w, const struct table_section *sections,
                                   size_t count)
{
    return command_source_follow(w->tables->command, w->subject, table_output_write_again,
                                 &(struct table_follow){w, sections, count});
}

int table_output_run(const struct table_settings *o, struct command_source *subject,
                     const struct table_section *sections, size_t count)
{
    struct table_writer w = {
        .tables = o, .subject = subject, .format = table_output_choose_format(o), .f = stdout};
    int status;
    if (o->follow && (o->file || o->chart))
        return command_usage(o->command, "--follow cannot be combined with %s",
                             o->file ? "-o" : "--chart");
    if (!o->follow && !o->file)
        pager_begin();
    if (chart_output_wanted(o, sections, count))
        return chart_output_run(o, subject, sections, count);
    if (w.format == OUTPUT_NO_FORMAT)
        return command_usage(o->command, "-o %s: " TABLES_NAMES, o->file);
    if (o->file && !output_format_is_picture(w.format))
        return table_output_write_file(&w, sections, count);
    status = o->follow ? table_output_follow_run(&w, sections, count)
                       : table_output_write_all(&w, sections, count);
    if (status == EXIT_DONE && output_format_is_picture(w.format))
        status = table_output_write_picture(&w);
    for (uint32_t i = 0; i < w.sheet_count; i++)
        text_table_free(&w.sheets[i]);
    free(w.sheets);
    return status;
}

int table_output_command(struct table_settings *o, int argc, char **argv, int first,
                         const struct table_section *sections, size_t count)
{
    struct command_source subject;
    const char *source = command_source_name(argc, argv, &first);
    if (argc != first)
        return command_usage(o->command, "extra operand: %s", argv[first]);
    int status = finding_options_check(o->command, o->findings);
    if (status != EXIT_DONE)
        return status;
    table_progress_begin(o->command);
    if (!command_source_open(o->command, &subject, source, table_request_session_lines(o),
                             label_option_selected(LABELS_NAME)))
        return finding_options_status(EXIT_FAILED);
    command_source_warn_updated(o->command, &subject);
    if (!finding_options_replace_text())
        status = table_output_run(o, &subject, sections, count);
    status = finding_options_judge(o->command, &subject, o->findings, o->finding_kinds,
                                   subject.source.name, status);
    command_source_close(&subject);
    return status;
}
