#define _GNU_SOURCE
#include "clients/sourcefile/line_costs.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *title;
} figures[FIGURES] = {
#define F(NAME, name, title) {name, title},
    COST_FIGURES(F)
#undef F
};

const char *line_costs_name(unsigned figure) { return figures[figure].name; }
const char *line_costs_title(unsigned figure) { return figures[figure].title; }

enum table_kind line_costs_kind(unsigned figure)
{
    return figure == FIGURE_CALLS || figure == FIGURE_WAITS ? TABLE_COUNT : TABLE_NS;
}

const char *line_costs_path(const struct line_costs_file *file)
{
    return *file->path ? file->path : "(unknown)";
}

/* ---- sums ---- */

struct line_costs_columns {
    uint32_t what, place, until, of, figure[FIGURES];
};

static bool find_columns(struct line_costs_columns *c, const struct result_table *t)
{
    bool all = true;
    c->what = result_table_find_column(t, "kind");
    c->place = result_table_find_column(t, "place");
    c->until = result_table_find_column(t, "until");
    c->of = result_table_find_column(t, "of");
    for (unsigned i = 0; i < FIGURES; i++) {
        c->figure[i] = result_table_find_column(t, figures[i].name);
        all &= c->figure[i] < t->column_count;
    }
    return all && c->what < t->column_count && c->place < t->column_count &&
           c->until < t->column_count && c->of < t->column_count;
}

static void add_figure(struct line_figures *to, unsigned figure, int64_t value)
{
    if (__builtin_add_overflow(to->value[figure], value, &to->value[figure]))
        to->value[figure] = INT64_MAX;
    to->known |= 1u << figure;
}

static struct line_figures figures_of(const struct line_costs_columns *c,
                                      const struct table_cell *cells)
{
    struct line_figures f = {0};
    for (unsigned i = 0; i < FIGURES; i++)
        if (cells[c->figure[i]].is == CELL_NUMBER)
            add_figure(&f, i, cells[c->figure[i]].number);
    return f;
}

static void add_figures(struct line_figures *to, const struct line_figures *f, bool totals)
{
    for (unsigned i = 0; i < FIGURES; i++)
        if (f->known & 1u << i && (totals || i != FIGURE_TOTAL))
            add_figure(to, i, f->value[i]);
}

int64_t line_costs_weight(const struct line_costs *l, const struct line_figures *f)
{
    return f->value[l->measured ? FIGURE_SELF : FIGURE_RAN] + f->value[FIGURE_MADE];
}

double line_costs_share(const struct line_costs *l, const struct line_figures *f)
{
    int64_t all = line_costs_weight(l, &l->all);
    return all > 0 ? (double)line_costs_weight(l, f) / (double)all : 0;
}

/* ---- places ---- */

/* A code place, with its own memory. */
struct line_costs_spot {
    char *path, *function, *text;
    int line;
    uint64_t address;
    bool entry; /* the function's entry: as an event's place, the begin or end of a thread */
};

static struct line_costs_spot spot_of(const struct table_names *names,
                                      const struct table_cell *cell)
{
    if (cell->is != CELL_PLACE || !cell->place.address)
        return (struct line_costs_spot){.path = xstrdup(""), .function = xstrdup("")};
    struct symbol_location site =
        symbolize_outer(names->sites, cell->place.process, cell->place.address);
    bool known = *site.path && site.line > 0;
    struct line_costs_spot spot = {.path = xstrdup(known ? site.path : ""),
                                   .function = xstrdup(site.function),
                                   .text = *site.function
                                               ? xasprintf("%s (%s)", site.function, site.place)
                                               : xstrdup(site.place),
                                   .line = known ? site.line : 0,
                                   .address = cell->place.address};
    const char *symbol = symbolizer_symbol(names->sites, cell->place.process, cell->place.address);
    spot.entry = symbol && strcmp(symbol, spot.function) == 0;
    return spot;
}

static void spot_free(struct line_costs_spot *spot)
{
    free(spot->path);
    free(spot->function);
    free(spot->text);
}

static bool is_within(const struct line_costs_spot *a, const struct line_costs_spot *b)
{
    return a->line && b->line && strcmp(a->path, b->path) == 0 &&
           strcmp(a->function, b->function) == 0;
}

static struct line_costs_file *file_of(struct line_costs *l, const char *path)
{
    for (uint32_t i = l->file_count; i > 0; i--)
        if (strcmp(l->files[i - 1].path, path) == 0)
            return &l->files[i - 1];
    ARRAY_PUSH(l->files, l->file_count, (struct line_costs_file){.path = xstrdup(path)});
    return &l->files[l->file_count - 1];
}

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

/* Returns the entry, which it creates on first use; takes over `from`. */
static struct line_costs_line *line_of(struct line_costs_file *file, int first, int last,
                                       char *from, const char *function)
{
    for (uint32_t i = 0; i < file->line_count; i++) {
        struct line_costs_line *line = &file->lines[i];
        if (line->first == first && line->last == last && same_text(line->from, from) &&
            strcmp(line->function, function) == 0) {
            free(from);
            return line;
        }
    }
    struct line_costs_line line = {
        .first = first, .last = last, .from = from, .function = xstrdup(function)};
    ARRAY_PUSH(file->lines, file->line_count, line);
    return &file->lines[file->line_count - 1];
}

/* ---- a row of the table ---- */

static bool line_costs_cell_is(const struct line_costs_columns *c, const struct table_cell *cells,
                               const char *what)
{
    return cells[c->what].is == CELL_TEXT && strcmp(cells[c->what].text, what) == 0;
}

/* Returns the entry of a segment from one place to another: the lines between within a function;
 * otherwise the line of the second place. A segment back to the same line is a loop. */
static struct line_costs_line *line_of_step(struct line_costs *l,
                                            const struct line_costs_spot *from,
                                            const struct line_costs_spot *to,
                                            struct line_costs_file **file)
{
    bool ends = from->line && to->entry;
    *file = file_of(l, to->line && !ends ? to->path : from->path);
    if (ends)
        return line_of(*file, from->line, from->line, xstrdup("to its end"), from->function);
    if (is_within(from, to))
        return line_of(*file, from->line, to->line,
                       from->line == to->line && to->address <= from->address
                           ? xstrdup("from here to here again")
                           : NULL,
                       from->function);
    if (to->line)
        return line_of(*file, to->line, to->line,
                       from->text ? xasprintf("from %s", from->text) : xstrdup("from its begin"),
                       to->function);
    char *way = to->text ? xasprintf("to %s", to->text) : xstrdup("to its end");
    if (!from->line && from->text) {
        char *both = xasprintf("%s %s", from->text, way);
        free(way);
        way = both;
    }
    return line_of(*file, from->line, from->line, way, from->function);
}

static struct line_costs_line *line_of_place(struct line_costs *l, const struct line_costs_spot *at,
                                             const char *what, struct line_costs_file **file)
{
    *file = file_of(l, at->path);
    return line_of(*file, at->line, at->line,
                   at->line   ? NULL
                   : at->text ? xstrdup(at->text)
                              : xstrdup(what),
                   at->function);
}

/* Returns the entry of the code in a function after a call that it made, or before the first
 * one. */
static struct line_costs_line *line_within(struct line_costs *l,
                                           const struct line_costs_spot *function,
                                           const struct line_costs_spot *after,
                                           struct line_costs_file **file)
{
    if (!after->line)
        return line_of_place(l, function, "inside", file);
    *file = file_of(l, after->path);
    struct line_costs_line *line =
        line_of(*file, after->line, after->line, xstrdup("after this call"), function->function);
    line->after = true;
    return line;
}

static void add_row(struct line_costs *l, const struct table_names *names,
                    const struct line_costs_columns *c, const struct result_table *t, uint32_t row)
{
    const struct table_cell *cells = result_table_cells(t, row);
    struct line_figures f = figures_of(c, cells);
    struct line_costs_spot at = spot_of(names, &cells[c->place]),
                           to = spot_of(names, &cells[c->until]);
    struct line_costs_file *file;
    struct line_costs_line *line =
        line_costs_cell_is(c, cells, "step") ? line_of_step(l, &at, &to, &file)
        : line_costs_cell_is(c, cells, "inside")
            ? line_within(l, &at, &to, &file)
            : line_of_place(l, &at, cells[c->what].is == CELL_TEXT ? cells[c->what].text : "",
                            &file);
    ARRAY_PUSH(line->rows, line->row_count, row);
    add_figures(&line->figures, &f, true);
    add_figures(&file->figures, &f, false);
    add_figures(&l->all, &f, false);
    spot_free(&at);
    spot_free(&to);
}

/* ---- sorting ---- */

static int top_of(const struct line_costs_line *line)
{
    return line->last < line->first ? line->last : line->first;
}

/* Orders the entries of one line: from elsewhere; several lines; the line itself; after a call. */
static int class_of(const struct line_costs_line *line)
{
    return line->after ? 3 : line->from ? 0 : line->first != line->last ? 1 : 2;
}

static int by_line(const void *a, const void *b)
{
    const struct line_costs_line *x = a, *y = b;
    if (top_of(x) != top_of(y))
        return top_of(x) < top_of(y) ? -1 : 1;
    if (class_of(x) != class_of(y))
        return class_of(x) - class_of(y);
    if (x->last != y->last)
        return x->last < y->last ? -1 : 1;
    int from = strcmp(x->from ? x->from : "", y->from ? y->from : "");
    return from ? from : strcmp(x->function, y->function);
}

static int by_weight(const void *a, const void *b, void *context)
{
    const struct line_costs_file *x = a, *y = b;
    int64_t p = line_costs_weight(context, &x->figures),
            q = line_costs_weight(context, &y->figures);
    if (!*x->path != !*y->path)
        return *x->path ? -1 : 1;
    return p != q ? (p > q ? -1 : 1) : strcmp(x->path, y->path);
}

static void line_costs_sort_files(struct line_costs *l)
{
    for (uint32_t i = 0; i < l->file_count; i++)
        if (l->files[i].line_count)
            qsort(l->files[i].lines, l->files[i].line_count, sizeof *l->files[i].lines, by_line);
    if (l->file_count)
        qsort_r(l->files, l->file_count, sizeof *l->files, by_weight, l);
}

bool line_costs_make(struct line_costs *l, const struct table_names *names,
                     const struct result_table *t)
{
    struct line_costs_columns c;
    *l = (struct line_costs){.table = t};
    if (!find_columns(&c, t))
        return false;
    for (uint32_t i = 0; i < t->row_count; i++)
        add_row(l, names, &c, t, i);
    l->measured = l->all.known & 1u << FIGURE_SELF;
    line_costs_sort_files(l);
    return true;
}

void line_costs_free(struct line_costs *l)
{
    for (uint32_t i = 0; i < l->file_count; i++) {
        for (uint32_t k = 0; k < l->files[i].line_count; k++) {
            free(l->files[i].lines[k].from);
            free(l->files[i].lines[k].function);
            free(l->files[i].lines[k].rows);
        }
        free(l->files[i].lines);
        free(l->files[i].path);
    }
    free(l->files);
    *l = (struct line_costs){0};
}

/* ---- lookup ---- */

static bool ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return m && n >= m && strcmp(path + n - m, end) == 0 &&
           (n == m || path[n - m - 1] == '/' || *end == '/');
}

const struct line_costs_file *line_costs_find(const struct line_costs *l, const char *path,
                                              bool *several)
{
    const struct line_costs_file *found = NULL;
    *several = false;
    for (uint32_t i = 0; i < l->file_count; i++) {
        const struct line_costs_file *file = &l->files[i];
        if (strcmp(line_costs_path(file), path) == 0)
            return file;
        *several |= found && ends_with(file->path, path);
        found = !found && ends_with(file->path, path) ? file : found;
    }
    return *several ? NULL : found;
}
