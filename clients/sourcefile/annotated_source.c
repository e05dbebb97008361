#define _GNU_SOURCE
#include "clients/sourcefile/annotated_source.h"

#include "base/alloc.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

char *annotated_source_path(const char *path)
{
    return xcheck(text_readable(path, strlen(path), false), strlen(path));
}

/* ---- cells and columns ---- */

static void add_column(struct result_table *t, const char *name, const char *title,
                       enum table_kind kind, bool detail)
{
    struct table_column column = {.name = xstrdup(name),
                                  .title = xstrdup(title),
                                  .unit = xstrdup(kind == TABLE_NS ? "ns" : ""),
                                  .kind = (uint8_t)kind,
                                  .exact = true,
                                  .detail = detail,
                                  .source = xstrdup("order, calls and debug information")};
    ARRAY_PUSH(t->columns, t->column_count, column);
}

/* Adds the columns; unknown and finer values only if they were requested. */
static void add_figures(struct result_table *t, const struct line_costs *l, bool totals)
{
    for (unsigned i = 0; i < FIGURES; i++) {
        bool fine = i == FIGURE_CALLED || i == FIGURE_WAITS || (i == FIGURE_RAN && l->measured),
             known = l->all.known & 1u << i || (i == FIGURE_TOTAL && l->measured);
        if (i != FIGURE_TOTAL || totals)
            add_column(t, line_costs_name(i), line_costs_title(i), line_costs_kind(i),
                       fine || !known);
    }
    add_column(t, "share", "%", TABLE_SHARE, false);
}

static struct table_cell *add_row(struct result_table *t)
{
    size_t n = t->row_count;
    if (!(n & (n - 1)))
        t->cells = xreallocarray(t->cells, (n ? 2 * n : 1) * t->column_count, sizeof *t->cells);
    ARRAY_PUSH(t->rows, t->row_count, (struct table_row){0});
    struct table_cell *cells = result_table_cells(t, (uint32_t)n);
    memset(cells, 0, t->column_count * sizeof *cells);
    return cells;
}

static void set_number(struct result_table *t, struct table_cell *cells, const char *name,
                       int64_t value)
{
    cells[result_table_find_column(t, name)] = table_cell_number(value);
}

/* Takes over the text. */
static void set_text(struct result_table *t, struct table_cell *cells, const char *name, char *text)
{
    cells[result_table_find_column(t, name)] = (struct table_cell){.is = CELL_TEXT, .text = text};
}

static void set_figures(struct result_table *t, struct table_cell *cells,
                        const struct line_costs *l, const struct line_figures *f)
{
    for (unsigned i = 0; i < FIGURES; i++)
        if (f->known & 1u << i && result_table_find_column(t, line_costs_name(i)) < t->column_count)
            set_number(t, cells, line_costs_name(i), f->value[i]);
    cells[result_table_find_column(t, "share")] = table_cell_real(line_costs_share(l, f));
}

static void set_total(struct result_table *t, const struct line_costs *l,
                      const struct line_figures *f)
{
    t->total = xcalloc(t->column_count, sizeof *t->total);
    set_figures(t, t->total, l, f);
}

/* ---- files ---- */

static char *state_of(const struct line_costs_file *file, const struct source_file_search *search,
                      int64_t began_ns)
{
    struct source_file_text written;
    if (!*file->path)
        return xstrdup("no debug info");
    source_files_read(&written, search, file->path);
    char *state = written.problem                 ? xstrdup(written.problem)
                  : written.changed_ns > began_ns ? xstrdup("modified after the run")
                                                  : xstrdup("");
    source_files_free(&written);
    return state;
}

void annotated_source_files(struct result_table *t, const struct line_costs *l,
                            const struct source_file_search *search, int64_t began_ns)
{
    t->title = xstrdup("source");
    add_figures(t, l, false);
    add_column(t, "lines", "lines", TABLE_COUNT, false);
    add_column(t, "file", "file", TABLE_TEXT, false);
    add_column(t, "state", "", TABLE_TEXT, false);
    for (uint32_t i = 0; i < l->file_count; i++) {
        const struct line_costs_file *file = &l->files[i];
        struct table_cell *cells = add_row(t);
        set_figures(t, cells, l, &file->figures);
        set_number(t, cells, "lines", file->line_count);
        set_text(t, cells, "file", annotated_source_path(line_costs_path(file)));
        set_text(t, cells, "state", state_of(file, search, began_ns));
    }
    set_total(t, l, &l->all);
}

/* ---- lines ---- */

struct annotated_source_writer {
    struct result_table *table;
    const struct line_costs *costs;
    const struct line_costs_file *file;
    const struct source_file_text *written;
    const struct annotated_source_options *wanted;
    bool *has_costs; /* by index in file->lines */
    bool *near; /* by line number, from 1: the line is listed as context */
    uint32_t lines; /* number of lines of the file */
};

/* Returns whether a line belongs to the requested function: "work" matches "void work<int>" and
 * "box::work". */
static bool annotated_source_is_of_function(const struct annotated_source_writer *w,
                                            const struct line_costs_line *line)
{
    const char *wanted = w->wanted->function;
    size_t n = wanted ? strlen(wanted) : 0;
    if (!n || strcmp(line->function, wanted) == 0)
        return true;
    for (const char *at = line->function; (at = strstr(at, wanted)) != NULL; at++)
        if ((at == line->function || at[-1] == ' ' || at[-1] == ':') && (!at[n] || at[n] == '<'))
            return true;
    return false;
}

struct weighted_line {
    int64_t weight;
    uint32_t line;
};

static int annotated_source_compare_weight(const void *a, const void *b)
{
    const struct weighted_line *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Selects the lines of the function, of them the most expensive ones (top). Returns how many. */
static uint32_t annotated_source_select_lines(struct annotated_source_writer *w)
{
    struct weighted_line *all = xcalloc(w->file->line_count + 1, sizeof *all);
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->file->line_count; i++)
        if (annotated_source_is_of_function(w, &w->file->lines[i]))
            all[count++] =
                (struct weighted_line){line_costs_weight(w->costs, &w->file->lines[i].figures), i};
    if (count && w->wanted->top)
        qsort(all, count, sizeof *all, annotated_source_compare_weight);
    if (w->wanted->top && count > w->wanted->top)
        count = w->wanted->top;
    for (uint32_t i = 0; i < count; i++)
        w->has_costs[all[i].line] = true;
    free(all);
    return count;
}

static void annotated_source_mark_context(struct annotated_source_writer *w, int number)
{
    int64_t from = (int64_t)number - w->wanted->around, to = (int64_t)number + w->wanted->around;
    for (int64_t n = from < 1 ? 1 : from; w->wanted->around && n <= to && n <= (int64_t)w->lines;
         n++)
        w->near[n] = true;
}

/* Marks the context lines; of a function only those between its first and last line. */
static void annotated_source_mark_near(struct annotated_source_writer *w)
{
    int64_t first = INT64_MAX, last = 0;
    for (uint32_t i = 0; i < w->file->line_count; i++) {
        const struct line_costs_line *line = &w->file->lines[i];
        if (!w->has_costs[i] || !line->first)
            continue;
        annotated_source_mark_context(w, line->first);
        annotated_source_mark_context(w, line->last);
        first = line->first < first ? line->first : first;
        last = line->last > last ? line->last : last;
    }
    for (int64_t n = 1; w->wanted->all && n <= (int64_t)w->lines; n++)
        w->near[n] = !w->wanted->function || (n >= first && n <= last);
}

static void add_thread(struct table_row *row, uint32_t thread)
{
    for (uint32_t i = 0; i < row->line_count; i++)
        if (row->lines[i] == thread)
            return;
    ARRAY_PUSH(row->lines, row->line_count, thread);
}

/* Sets the row's threads, and the event of its most expensive place. */
static void annotated_source_set_threads(struct table_row *row, const struct result_table *places,
                                         const struct line_costs_line *line)
{
    uint32_t waited = result_table_find_column(places, "waited_ns"),
             path = result_table_find_column(places, "path_ns");
    int64_t most = -1;
    for (uint32_t i = 0; i < line->row_count; i++) {
        const struct table_row *of = &places->rows[line->rows[i]];
        const struct table_cell *cells = result_table_cells(places, line->rows[i]);
        int64_t ns = cells[waited].number + cells[path].number; /* 0 in null cells */
        for (uint32_t k = 0; k < of->line_count; k++)
            add_thread(row, of->lines[k]);
        if (of->event.line && ns > most) {
            row->event = of->event;
            most = ns;
        }
    }
}

static void add_line(struct annotated_source_writer *w, const struct line_costs_line *line)
{
    struct result_table *t = w->table;
    struct table_cell *cells = add_row(t);
    annotated_source_set_threads(&t->rows[t->row_count - 1], w->costs->table, line);
    set_figures(t, cells, w->costs, &line->figures);
    if (line->first)
        set_number(t, cells, "line", line->first);
    if (line->first && line->last != line->first)
        set_number(t, cells, "last", line->last);
    if (*line->function)
        set_text(t, cells, "function", xstrdup(line->function));
    if (line->from)
        set_text(t, cells, "text", xasprintf("(%s)", line->from));
    else if (line->first == line->last)
        set_text(t, cells, "text", source_files_line(w->written, (uint32_t)line->first));
}

static void add_text(struct annotated_source_writer *w, uint32_t number)
{
    struct table_cell *cells = add_row(w->table);
    set_number(w->table, cells, "line", number);
    set_text(w->table, cells, "text", source_files_line(w->written, number));
}

static uint32_t top_of(const struct line_costs_line *line)
{
    return (uint32_t)(line->last < line->first ? line->last : line->first);
}

/* Lists the lines, each below its entries that come from elsewhere, and above those that follow
 * it. */
static void add_all(struct annotated_source_writer *w)
{
    uint32_t i = 0, count = w->file->line_count;
    for (uint32_t n = 0; n <= w->lines || i < count; n++) {
        bool itself = false;
        if (n > w->lines)
            n = top_of(&w->file->lines[i]); /* the file was longer when the program was built */
        for (; i < count && top_of(&w->file->lines[i]) <= n; i++) {
            const struct line_costs_line *line = &w->file->lines[i];
            if (w->has_costs[i] && line->after && !itself && n && n <= w->lines) {
                add_text(w, n);
                itself = true;
            }
            if (w->has_costs[i])
                add_line(w, line);
            itself |= w->has_costs[i] && !line->from && line->first == line->last;
        }
        if (n && n <= w->lines && w->near[n] && !itself)
            add_text(w, n);
    }
}

static struct line_figures annotated_source_sum_figures(const struct annotated_source_writer *w)
{
    struct line_figures all = {0};
    for (uint32_t i = 0; i < w->file->line_count; i++)
        for (unsigned k = 0; w->has_costs[i] && k < FIGURES; k++) {
            const struct line_figures *f = &w->file->lines[i].figures;
            if (k == FIGURE_TOTAL || !(f->known & 1u << k))
                continue;
            all.value[k] += f->value[k];
            all.known |= 1u << k;
        }
    return all;
}

bool annotated_source_lines(struct result_table *t, const struct line_costs *l,
                            const struct line_costs_file *file,
                            const struct source_file_text *written,
                            const struct annotated_source_options *wanted)
{
    struct annotated_source_writer w = {t,      l,    file, written,
                                        wanted, NULL, NULL, written->line_count};
    w.has_costs = xcalloc(file->line_count + 1, sizeof *w.has_costs);
    w.near = xcalloc((size_t)w.lines + 2, sizeof *w.near);
    bool any = annotated_source_select_lines(&w) > 0;
    t->title = annotated_source_path(line_costs_path(file));
    add_figures(t, l, true);
    add_column(t, "line", "line", TABLE_COUNT, false);
    add_column(t, "last", "last", TABLE_COUNT, true);
    add_column(t, "function", "function", TABLE_TEXT, true);
    add_column(t, "text", "source", TABLE_TEXT, false);
    annotated_source_mark_near(&w);
    if (any)
        add_all(&w);
    struct line_figures all = annotated_source_sum_figures(&w);
    set_total(t, l, &all);
    free(w.has_costs);
    free(w.near);
    return any;
}

/* ---- annotations of lines ---- */

#define ITEMS_SHOWN 4u /* items; more are shown as "and so on" */

struct annotation_text {
    const struct table_names *names;
    const struct result_table *table;
    char *text;
    unsigned count;
};

static const struct table_cell *cell_of(const struct annotation_text *s, uint32_t row,
                                        const char *name)
{
    return &result_table_cells(s->table, row)[result_table_find_column(s->table, name)];
}

/* Appends an item; takes over its text. */
static void annotation_append(struct annotation_text *s, char *more)
{
    if (s->count++ <= ITEMS_SHOWN) {
        char *all = xasprintf("%s%s%s", s->text, *s->text ? "; " : "",
                              s->count <= ITEMS_SHOWN ? more : "and so on");
        free(s->text);
        s->text = all;
    }
    free(more);
}

static char *annotation_count(int64_t count)
{
    return count == 1 ? xstrdup("once") : xasprintf("%lld times", (long long)count);
}

static void annotation_report_call(struct annotation_text *s, uint32_t row)
{
    const struct table_cell *of = cell_of(s, row, "of"), *total = cell_of(s, row, "total_ns");
    char *name = of->is == CELL_PLACE
                     ? result_table_place_text(s->names, of->place, "a call that is recorded")
                     : xstrdup("a call that is recorded");
    char *count = annotation_count(cell_of(s, row, "calls")->number);
    annotation_append(s, total->is == CELL_NUMBER ? xasprintf("calls %s %s, %.3f ms", name, count,
                                                              (double)total->number / 1e6)
                                                  : xasprintf("calls %s %s", name, count));
    free(name);
    free(count);
}

static void annotation_report_wait(struct annotation_text *s, uint32_t row)
{
    const struct table_cell *of = cell_of(s, row, "of");
    char *count = annotation_count(cell_of(s, row, "waits")->number);
    annotation_append(s,
                      xasprintf("%s %s, waited %.3f ms", of->is == CELL_TEXT ? of->text : "waits",
                                count, (double)cell_of(s, row, "waited_ns")->number / 1e6));
    free(count);
}

char *annotated_source_line_text(const struct table_names *names, const struct line_costs *costs,
                                 const struct line_costs_line *line)
{
    struct annotation_text s = {names, costs->table, xstrdup(""), 0};
    for (uint32_t i = 0; i < line->row_count; i++) {
        const struct table_cell *what = cell_of(&s, line->rows[i], "kind");
        if (what->is == CELL_TEXT && strcmp(what->text, "call") == 0)
            annotation_report_call(&s, line->rows[i]);
        else if (what->is == CELL_TEXT && strcmp(what->text, "wait") == 0)
            annotation_report_wait(&s, line->rows[i]);
    }
    return s.text;
}

/* ---- as text, for the terminal and the viewer ---- */

#define TEXT_MOST 120u /* characters */

static char *annotated_source_shorten(const char *text)
{
    if (text_table_width(text) <= TEXT_MOST)
        return xstrdup(text);
    size_t n = 0;
    for (uint32_t i = 0; i < TEXT_MOST; i++)
        for (n++; ((unsigned char)text[n] & 0xc0) == 0x80; n++)
            ;
    return xasprintf("%.*s…", (int)n, text);
}

/* Returns whether a cell is left blank: null, or rounded to 0. */
static bool is_nothing(const struct table_cell *cell)
{
    return cell->is == CELL_NULL || (cell->is == CELL_NUMBER && !cell->number) ||
           (cell->is == CELL_REAL && cell->real < 0.0005);
}

/* Returns whether an entry for code between lines has no values to show. */
static bool annotated_source_is_blank_row(const struct result_table *t, uint32_t row,
                                          const uint32_t *columns, uint32_t count)
{
    const struct table_cell *cells = result_table_cells(t, row);
    uint32_t text = result_table_find_column(t, "text"), line = result_table_find_column(t, "line");
    bool between = cells[text].is == CELL_NULL || *cells[text].text == '(';
    for (uint32_t k = 0; between && k < count; k++)
        between = columns[k] == line || columns[k] == text || is_nothing(&cells[columns[k]]);
    return between;
}

static char *annotated_source_cell_text(const struct table_names *names,
                                        const struct result_table *t, uint32_t row, uint32_t column)
{
    const struct table_cell *cells = result_table_cells(t, row);
    uint32_t last = result_table_find_column(t, "last");
    if (is_nothing(&cells[column]))
        return xstrdup("");
    if (column == result_table_find_column(t, "text"))
        return annotated_source_shorten(cells[column].text);
    if (column == result_table_find_column(t, "line") && cells[last].is == CELL_NUMBER)
        return xasprintf("%lld-%lld", (long long)cells[column].number,
                         (long long)cells[last].number);
    return result_table_cell_text(names, &t->columns[column], &cells[column]);
}

static void annotated_source_write_row(struct text_table *s, const struct table_names *names,
                                       const struct result_table *t, uint32_t i,
                                       const uint32_t *columns)
{
    struct text_table_row *row = text_table_add_row(s);
    const struct table_cell *share =
        &result_table_cells(t, i)[result_table_find_column(t, "share")];
    row->row = i;
    row->share = share->is == CELL_REAL ? share->real : 0;
    for (uint32_t k = 0; k < s->column_count; k++)
        row->cells[k] = annotated_source_cell_text(names, t, i, columns[k]);
}

/* Adds a row that marks omitted lines. */
static void annotated_source_write_gap(struct text_table *s, const uint32_t *columns, uint32_t line)
{
    struct text_table_row *row = text_table_add_row(s);
    row->event = (struct event_id){0};
    for (uint32_t k = 0; k < s->column_count; k++)
        row->cells[k] = xstrdup(columns[k] == line ? "…" : "");
}

static void annotated_source_write_total(struct text_table *s, const struct table_names *names,
                                         const struct result_table *t, const uint32_t *columns)
{
    struct text_table_row *row = text_table_add_row(s);
    row->total = true;
    for (uint32_t k = 0; k < s->column_count; k++) {
        const struct table_cell *cell = &t->total[columns[k]];
        row->cells[k] = cell->is == CELL_NULL
                            ? xstrdup(k + 1 == s->column_count ? "in all" : "")
                            : result_table_cell_text(names, &t->columns[columns[k]], cell);
    }
}

void annotated_source_write(struct text_table *s, const struct table_names *names,
                            const struct result_table *t)
{
    uint32_t count, *columns = result_table_choose_columns(t, NULL, &count, NULL),
                    line = result_table_find_column(t, "line");
    int64_t last = 0; /* last line shown so far */
    *s = (struct text_table){.title = xasprintf("%s: %s", names->book->run.name, t->title)};
    for (uint32_t k = 0; k < count; k++) {
        text_table_add_column(s, result_table_title_text(&t->columns[columns[k]]),
                              columns[k] <= line);
        s->columns[k].shaded = columns[k] == line;
        s->columns[k].code = columns[k] > line;
    }
    for (uint32_t i = 0; i < t->row_count; i++) {
        const struct table_cell *cells = result_table_cells(t, i);
        int64_t at = cells[line].is == CELL_NUMBER ? cells[line].number : 0;
        bool whole = cells[result_table_find_column(t, "last")].is == CELL_NULL;
        if (annotated_source_is_blank_row(t, i, columns, count))
            continue;
        if (last && at > last + 1)
            annotated_source_write_gap(s, columns, line);
        annotated_source_write_row(s, names, t, i, columns);
        last = whole || at > last ? at - !whole : last;
    }
    annotated_source_write_total(s, names, t, columns);
    for (uint32_t i = 0; i < t->note_count; i++)
        text_table_add_note(s, xstrdup(t->notes[i]));
    free(columns);
}
