#define _GNU_SOURCE
#include "clients/source/lined.h"

#include "memory/memory.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

char *lined_path(const char *path)
{
    return memory_given(text_readable(path, strlen(path), false), strlen(path));
}

/* ---- making tables ---- */

static void add_column(struct shown_table *t, const char *name, const char *title,
                       enum table_kind kind, bool detail)
{
    struct table_column column = {.name = memory_copied(name),
                                  .title = memory_copied(title),
                                  .unit = memory_copied(kind == TABLE_NS ? "ns" : ""),
                                  .kind = (uint8_t)kind,
                                  .exact = true,
                                  .detail = detail,
                                  .source = memory_copied("order, calls and debug information")};
    PUSH(t->columns, t->column_count, column);
}

/* What is told of each: figures that nobody knows, and the finer ones, only if they are asked for. */
static void add_figures(struct shown_table *t, const struct costs *l, bool totals)
{
    for (unsigned i = 0; i < FIGURES; i++) {
        bool fine = i == FIGURE_CALLED || i == FIGURE_WAITS || (i == FIGURE_RAN && l->measured),
             known = l->all.known & 1u << i || (i == FIGURE_TOTAL && l->measured);
        if (i != FIGURE_TOTAL || totals)
            add_column(t, costs_name(i), costs_title(i), costs_kind(i), fine || !known);
    }
    add_column(t, "share", "%", TABLE_SHARE, false);
}

static struct table_cell *add_row(struct shown_table *t)
{
    size_t n = t->row_count;
    if (!(n & (n - 1)))
        t->cells = memory_resized(t->cells, (n ? 2 * n : 1) * t->column_count, sizeof *t->cells);
    PUSH(t->rows, t->row_count, (struct table_row){0});
    struct table_cell *cells = table_cells(t, (uint32_t)n);
    memset(cells, 0, t->column_count * sizeof *cells);
    return cells;
}

static void set_number(struct shown_table *t, struct table_cell *cells, const char *name,
                       int64_t value)
{
    cells[table_find(t, name)] = cell_number(value);
}

/* (The text is taken over.) */
static void set_text(struct shown_table *t, struct table_cell *cells, const char *name, char *text)
{
    cells[table_find(t, name)] = (struct table_cell){.is = CELL_TEXT, .text = text};
}

static void set_figures(struct shown_table *t, struct table_cell *cells, const struct costs *l,
                        const struct figures *f)
{
    for (unsigned i = 0; i < FIGURES; i++)
        if (f->known & 1u << i && table_find(t, costs_name(i)) < t->column_count)
            set_number(t, cells, costs_name(i), f->value[i]);
    cells[table_find(t, "share")] = cell_real(costs_share(l, f));
}

static void set_total(struct shown_table *t, const struct costs *l, const struct figures *f)
{
    t->total = memory_zeroed(t->column_count, sizeof *t->total);
    set_figures(t, t->total, l, f);
}

/* ---- files ---- */

static char *state_of(const struct costs_file *file, const struct written_search *search,
                      int64_t began_ns)
{
    struct written written;
    if (!*file->path)
        return memory_copied("no debug information");
    written_read(&written, search, file->path);
    char *state = written.problem                 ? memory_copied(written.problem)
                  : written.changed_ns > began_ns ? memory_copied("changed since the run")
                                                  : memory_copied("");
    written_free(&written);
    return state;
}

void lined_files(struct shown_table *t, const struct costs *l, const struct written_search *search,
                 int64_t began_ns)
{
    t->title = memory_copied("source");
    add_figures(t, l, false);
    add_column(t, "lines", "lines", TABLE_COUNT, false);
    add_column(t, "file", "file", TABLE_TEXT, false);
    add_column(t, "state", "", TABLE_TEXT, false);
    for (uint32_t i = 0; i < l->file_count; i++) {
        const struct costs_file *file = &l->files[i];
        struct table_cell *cells = add_row(t);
        set_figures(t, cells, l, &file->figures);
        set_number(t, cells, "lines", file->line_count);
        set_text(t, cells, "file", lined_path(costs_path(file)));
        set_text(t, cells, "state", state_of(file, search, began_ns));
    }
    set_total(t, l, &l->all);
}

/* ---- lines ---- */

struct telling {
    struct shown_table *table;
    const struct costs *costs;
    const struct costs_file *file;
    const struct written *written;
    const struct lined_wanted *wanted;
    bool *told; /* by line of the costs */
    bool *near; /* by number of a line of the file, from 1: it is told, too */
    uint32_t lines; /* of the file */
};

/* "work" is "void work<int>", and "box::work", too. */
static bool is_of(const struct telling *w, const struct costs_line *line)
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

struct weighed {
    int64_t weight;
    uint32_t line;
};

static int heavier(const void *a, const void *b)
{
    const struct weighed *x = a, *y = b;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Those of the function, and of them the heaviest; returns how many. */
static uint32_t choose(struct telling *w)
{
    struct weighed *all = memory_zeroed(w->file->line_count + 1, sizeof *all);
    uint32_t count = 0;
    for (uint32_t i = 0; i < w->file->line_count; i++)
        if (is_of(w, &w->file->lines[i]))
            all[count++] = (struct weighed){costs_weight(w->costs, &w->file->lines[i].figures), i};
    if (count && w->wanted->top)
        qsort(all, count, sizeof *all, heavier);
    if (w->wanted->top && count > w->wanted->top)
        count = w->wanted->top;
    for (uint32_t i = 0; i < count; i++)
        w->told[all[i].line] = true;
    free(all);
    return count;
}

static void mark(struct telling *w, int number)
{
    int64_t from = (int64_t)number - w->wanted->around, to = (int64_t)number + w->wanted->around;
    for (int64_t n = from < 1 ? 1 : from; w->wanted->around && n <= to && n <= (int64_t)w->lines;
         n++)
        w->near[n] = true;
}

/* Of a function what lies between its first and its last line is told, no more. */
static void find_near(struct telling *w)
{
    int64_t first = INT64_MAX, last = 0;
    for (uint32_t i = 0; i < w->file->line_count; i++) {
        const struct costs_line *line = &w->file->lines[i];
        if (!w->told[i] || !line->first)
            continue;
        mark(w, line->first);
        mark(w, line->last);
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
    PUSH(row->lines, row->line_count, thread);
}

/* The threads that it is about, and the event of what took longest of it. */
static void set_about(struct table_row *row, const struct shown_table *places,
                      const struct costs_line *line)
{
    uint32_t waited = table_find(places, "waited_ns"), path = table_find(places, "path_ns");
    int64_t most = -1;
    for (uint32_t i = 0; i < line->row_count; i++) {
        const struct table_row *of = &places->rows[line->rows[i]];
        const struct table_cell *cells = table_cells(places, line->rows[i]);
        int64_t ns = cells[waited].number + cells[path].number; /* null has 0 */
        for (uint32_t k = 0; k < of->line_count; k++)
            add_thread(row, of->lines[k]);
        if (of->event.line && ns > most) {
            row->event = of->event;
            most = ns;
        }
    }
}

static void add_line(struct telling *w, const struct costs_line *line)
{
    struct shown_table *t = w->table;
    struct table_cell *cells = add_row(t);
    set_about(&t->rows[t->row_count - 1], w->costs->table, line);
    set_figures(t, cells, w->costs, &line->figures);
    if (line->first)
        set_number(t, cells, "line", line->first);
    if (line->first && line->last != line->first)
        set_number(t, cells, "last", line->last);
    if (*line->function)
        set_text(t, cells, "function", memory_copied(line->function));
    if (line->from)
        set_text(t, cells, "text", memory_printed("(%s)", line->from));
    else if (line->first == line->last)
        set_text(t, cells, "text", written_line(w->written, (uint32_t)line->first));
}

static void add_text(struct telling *w, uint32_t number)
{
    struct table_cell *cells = add_row(w->table);
    set_number(w->table, cells, "line", number);
    set_text(w->table, cells, "text", written_line(w->written, number));
}

static uint32_t top_of(const struct costs_line *line)
{
    return (uint32_t)(line->last < line->first ? line->last : line->first);
}

/* What stands above a line, and the line itself, with figures or without. */
static void add_all(struct telling *w)
{
    uint32_t i = 0, count = w->file->line_count;
    for (uint32_t n = 0; n <= w->lines || i < count; n++) {
        bool itself = false;
        if (n > w->lines)
            n = top_of(&w->file->lines[i]); /* behind its end: it was longer then */
        for (; i < count && top_of(&w->file->lines[i]) <= n; i++) {
            const struct costs_line *line = &w->file->lines[i];
            if (w->told[i] && line->after && !itself && n && n <= w->lines) {
                add_text(w, n);
                itself = true;
            }
            if (w->told[i])
                add_line(w, line);
            itself |= w->told[i] && !line->from && line->first == line->last;
        }
        if (n && n <= w->lines && w->near[n] && !itself)
            add_text(w, n);
    }
}

static struct figures sum(const struct telling *w)
{
    struct figures all = {0};
    for (uint32_t i = 0; i < w->file->line_count; i++)
        for (unsigned k = 0; w->told[i] && k < FIGURES; k++) {
            const struct figures *f = &w->file->lines[i].figures;
            if (k == FIGURE_TOTAL || !(f->known & 1u << k))
                continue;
            all.value[k] += f->value[k];
            all.known |= 1u << k;
        }
    return all;
}

bool lined_lines(struct shown_table *t, const struct costs *l, const struct costs_file *file,
                 const struct written *written, const struct lined_wanted *wanted)
{
    struct telling w = {t, l, file, written, wanted, NULL, NULL, written->line_count};
    w.told = memory_zeroed(file->line_count + 1, sizeof *w.told);
    w.near = memory_zeroed((size_t)w.lines + 2, sizeof *w.near);
    bool any = choose(&w) > 0;
    t->title = lined_path(costs_path(file));
    add_figures(t, l, true);
    add_column(t, "line", "line", TABLE_COUNT, false);
    add_column(t, "last", "last", TABLE_COUNT, true);
    add_column(t, "function", "function", TABLE_TEXT, true);
    add_column(t, "text", "source", TABLE_TEXT, false);
    find_near(&w);
    if (any)
        add_all(&w);
    struct figures all = sum(&w);
    set_total(t, l, &all);
    free(w.told);
    free(w.near);
    return any;
}
