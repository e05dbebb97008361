/* poet calls --per-thread: functions by thread, a column for each thread. */
#include "clients/cli/calls.h"

#include "base/alloc.h"
#include "clients/cli/table_options.h"
#include "wire/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST (LIMIT_TABLE_COLUMNS - 2) /* threads with columns; others count in the sums only */

enum { SCOPE, SUM, THREADS };

struct calls_by_thread_builder {
    const struct result_table *from;
    struct result_table *to;
    const struct table_names *names;
    uint32_t scope, what; /* columns of `from` */
    uint32_t thread; /* column of `to` for the current thread; 0: it has none */
    uint32_t left; /* threads without a column */
};

static bool is_thread(const struct calls_by_thread_builder *m, uint32_t row)
{
    return !m->from->rows[row].depth && result_table_cells(m->from, row)[m->scope].is == CELL_LINE;
}

static void add_column(struct calls_by_thread_builder *m, const char *name, char *title,
                       uint8_t kind)
{
    const struct table_column *of = &m->from->columns[kind == TABLE_TEXT ? m->scope : m->what];
    struct table_column column = {.name = xstrdup(name),
                                  .title = title,
                                  .unit = xstrdup(kind == TABLE_TEXT ? "" : of->unit),
                                  .kind = kind,
                                  .exact = of->exact,
                                  .source = xstrdup(of->source)};
    ARRAY_PUSH(m->to->columns, m->to->column_count, column);
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Returns the lines of all threads in ascending order, in new memory. */
static uint32_t *calls_by_thread_lines(const struct calls_by_thread_builder *m, uint32_t *count)
{
    uint32_t *lines = xcalloc(m->from->row_count + 1, sizeof *lines);
    *count = 0;
    for (uint32_t i = 0; i < m->from->row_count; i++)
        if (is_thread(m, i))
            lines[(*count)++] = result_table_cells(m->from, i)[m->scope].line;
    qsort(lines, *count, sizeof *lines, by_number);
    return lines;
}

static void calls_by_thread_begin_table(struct calls_by_thread_builder *m)
{
    const struct table_column *what = &m->from->columns[m->what];
    uint32_t count, *lines = calls_by_thread_lines(m, &count);
    m->to->title = xasprintf("%s, by thread", m->from->title);
    add_column(m, "function", xstrdup("function"), TABLE_TEXT);
    add_column(m, what->name, xstrdup(what->title), what->kind);
    for (uint32_t i = 0; i < count && i < MOST; i++) {
        char *name = xasprintf("line_%u", lines[i]);
        add_column(m, name, xstrdup(metadata_label(m->names->book, lines[i])), what->kind);
        free(name);
    }
    m->left = count > MOST ? count - MOST : 0;
    free(lines);
}

/* Returns the column of a thread; 0 if it has none. */
static uint32_t calls_by_thread_column(const struct calls_by_thread_builder *m, uint32_t line)
{
    char name[24];
    snprintf(name, sizeof name, "line_%u", line);
    uint32_t column = result_table_find_column(m->to, name);
    return column < m->to->column_count ? column : 0;
}

/* Returns the row of the functions of this name, which it frees; linear search, since a readable
 * table has some hundred rows at most. */
static struct table_cell *calls_by_thread_row(struct calls_by_thread_builder *m, char *scope)
{
    struct result_table *t = m->to;
    for (uint32_t i = 0; i < t->row_count; i++)
        if (strcmp(result_table_cells(t, i)[SCOPE].text, scope) == 0) {
            free(scope);
            return result_table_cells(t, i);
        }
    struct table_row row = {0};
    uint32_t n = t->row_count;
    ARRAY_PUSH(t->rows, t->row_count, row);
    t->cells = xreallocarray(t->cells, (size_t)(n + 1) * t->column_count, sizeof *t->cells);
    struct table_cell *cells = result_table_cells(t, n);
    memset(cells, 0, t->column_count * sizeof *cells);
    cells[SCOPE] = (struct table_cell){.is = CELL_TEXT, .text = scope};
    return cells;
}

static void calls_by_thread_add_cell(struct table_cell *to, const struct table_cell *cell)
{
    if (cell->is != CELL_NUMBER)
        return;
    *to = table_cell_number((to->is == CELL_NUMBER ? to->number : 0) + cell->number);
}

static void add_rows(struct calls_by_thread_builder *m)
{
    for (uint32_t i = 0; i < m->from->row_count; i++) {
        const struct table_cell *cells = result_table_cells(m->from, i);
        if (is_thread(m, i)) {
            m->thread = calls_by_thread_column(m, cells[m->scope].line);
            continue;
        }
        struct table_cell *row = calls_by_thread_row(
            m, result_table_cell_text(m->names, &m->from->columns[m->scope], &cells[m->scope]));
        calls_by_thread_add_cell(&row[SUM], &cells[m->what]);
        if (m->thread)
            calls_by_thread_add_cell(&row[m->thread], &cells[m->what]);
    }
}

static int64_t calls_by_thread_cell_value(const struct table_cell *cell)
{
    return cell->is == CELL_NUMBER ? cell->number : INT64_MIN;
}

static void calls_by_thread_sort_rows(struct result_table *t, uint32_t column,
                                      const struct table_settings *o)
{
    size_t bytes = t->column_count * sizeof *t->cells;
    struct table_cell *one = xmalloc(bytes);
    for (uint32_t i = 1; i < t->row_count; i++)
        for (uint32_t k = i; k; k--) {
            struct table_cell *before = result_table_cells(t, k - 1),
                              *at = result_table_cells(t, k);
            int64_t x = calls_by_thread_cell_value(&before[column]),
                    y = calls_by_thread_cell_value(&at[column]);
            if (o->backwards ? x <= y : x >= y)
                break;
            memcpy(one, before, bytes);
            memcpy(before, at, bytes);
            memcpy(at, one, bytes);
        }
    free(one);
    for (; o->top && t->row_count > o->top; t->row_count--)
        free(result_table_cells(t, t->row_count - 1)[SCOPE].text);
}

static void add_notes(const struct calls_by_thread_builder *m)
{
    for (uint32_t i = 0; i < m->from->note_count; i++)
        ARRAY_PUSH(m->to->notes, m->to->note_count, xstrdup(m->from->notes[i]));
    if (m->left)
        ARRAY_PUSH(m->to->notes, m->to->note_count,
                   xasprintf("%u more threads have no column: see --threads", m->left));
}

static int calls_by_thread_build(const struct table_settings *o, struct calls_by_thread_builder *m)
{
    uint32_t sort = SUM;
    calls_by_thread_begin_table(m);
    add_rows(m);
    if (o->sort && (sort = result_table_find_column(m->to, o->sort)) == m->to->column_count)
        return table_request_missing_column(o, m->to, "--sort", o->sort);
    calls_by_thread_sort_rows(m->to, sort, o);
    add_notes(m);
    m->to->known = m->from->known;
    m->to->count = m->from->count;
    return EXIT_DONE;
}

/* Returns whether the values of a column can be added over threads. */
static bool calls_by_thread_is_sum(const char *name)
{
    static const char *const sums[] = {"calls",  "concurrent", "self_ns",
                                       "net_ns", "total_ns",   "cpu_ns"};
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        if (strcmp(name, sums[i]) == 0)
            return true;
    return false;
}

int calls_by_thread_make(const struct table_settings *o, const char *column,
                         struct command_source *subject, struct result_table *t)
{
    static const char thread[] = "thread";
    struct table_names names = {&subject->source.book, subject->sites};
    struct result_table from = {0};
    struct table_settings all = *o;
    all.by = thread;
    all.sort = NULL;
    all.top = 0;
    all.tree = false;
    int status = table_request_run(&all, &(struct table_section){.what = "calls"}, subject, &from);
    struct calls_by_thread_builder m = {.from = &from,
                                        .to = t,
                                        .names = &names,
                                        .scope = result_table_find_column(&from, "function"),
                                        .what = result_table_find_column(&from, column)};
    *t = (struct result_table){0};
    if (status == EXIT_DONE && m.what == from.column_count)
        status = table_request_missing_column(o, &from, "--per-thread", column);
    else if (status == EXIT_DONE && !calls_by_thread_is_sum(from.columns[m.what].name))
        status = command_usage(o->command, "--per-thread %s: this column has no sum", column);
    else if (status == EXIT_DONE)
        status = calls_by_thread_build(o, &m);
    result_table_free(&from);
    return status;
}
