#define _GNU_SOURCE
#include "clients/connection/call_groups.h"

#include "base/alloc.h"
#include "wire/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- categories ---- */

bool call_groups_have_categories(const struct trace_metadata *book)
{
    for (size_t i = 0; i < book->target_count; i++)
        if (book->targets[i]->scope_count)
            return true;
    return false;
}

/* Returns the enum target_category of a cell with a place or a name; CATEGORY_NONE if none is
 * assigned. */
static uint8_t call_groups_category(const struct table_names *names, const struct table_cell *cell)
{
    struct table_place place = cell->place;
    const char *text = cell->is == CELL_NAME
                           ? symbolizer_location_text(names->sites, place.process, place.address)
                           : NULL;
    struct symbol_location site =
        text ? (struct symbol_location){0} : symbolize(names->sites, place.process, place.address);
    uint8_t category = CATEGORY_NONE;
    for (size_t i = 0; i < names->book->target_count && !category; i++)
        category = target_scope_category(names->book->targets[i], text ? text : site.function);
    return category;
}

/* Functions beyond the maximum length of an option get no category. */
char *call_groups_category_option(const struct table_names *names, const struct result_table *calls)
{
    uint32_t scope = result_table_find_column(calls, "function");
    char *sentence = NULL;
    size_t size = 0, written = 0;
    FILE *f = scope < calls->column_count ? open_memstream(&sentence, &size) : NULL;
    for (uint32_t i = 0; f && i < calls->row_count && written < LIMIT_OPTION_BYTES - 64; i++) {
        const struct table_cell *cell = &result_table_cells(calls, i)[scope];
        bool named = cell->is == CELL_PLACE || cell->is == CELL_NAME;
        uint8_t category = named ? call_groups_category(names, cell) : CATEGORY_NONE;
        if (category)
            written += (size_t)fprintf(f, "%s%u:%llu=%s", written ? "," : "", cell->place.process,
                                       (unsigned long long)cell->place.address,
                                       target_categories[category]);
    }
    if (f)
        fclose(f);
    if (sentence && !written) {
        free(sentence);
        sentence = NULL;
    }
    return sentence;
}

/* ---- groups ---- */

enum { GROUP, SCOPE, FUNCTIONS, SUMS }; /* columns of the result, followed by the sums */

static const char *const sums[] = {"calls",  "concurrent", "self_ns",     "self_share",
                                   "net_ns", "cpu_ns",     "overhead_ns", "untimed"};
#define SUM_COUNT (sizeof sums / sizeof *sums)

struct call_group {
    char *name;
    uint32_t *rows, row_count;
    struct table_cell sum[SUM_COUNT];
    bool incomplete, counted;
};

struct call_groups_builder {
    const struct call_groups_options *how;
    const struct table_names *names;
    const struct result_table *from;
    struct result_table *to;
    struct call_group *groups;
    uint32_t group_count;
    uint32_t of[SUM_COUNT]; /* the column of each sum in `from` */
    uint32_t scope, mark;
};

bool call_groups_is_grouping(const char *by)
{
    return by && (strcmp(by, "file") == 0 || strcmp(by, "category") == 0);
}

/* ---- choice of the group ---- */

static char *file_of(const struct call_groups_builder *m, const struct table_cell *cell)
{
    if (cell->is == CELL_PLACE) {
        struct symbol_location site =
            symbolize(m->names->sites, cell->place.process, cell->place.address);
        if (site.path && *site.path)
            return xstrdup(site.path);
    }
    return xstrdup(cell->is == CELL_TEXT ? "(recorded calls)" : "(unknown source)");
}

static char *category_of(const struct call_groups_builder *m, const struct table_cell *cell)
{
    unsigned category =
        cell->is == CELL_TEXT ? CATEGORY_EXTRA : call_groups_category(m->names, cell);
    return xstrdup(category ? target_categories[category] : "(no category)");
}

static struct call_group *group_of(struct call_groups_builder *m, const struct table_cell *cell)
{
    char *name = strcmp(m->how->by, "file") == 0 ? file_of(m, cell) : category_of(m, cell);
    for (uint32_t i = 0; i < m->group_count; i++)
        if (strcmp(m->groups[i].name, name) == 0) {
            free(name);
            return &m->groups[i];
        }
    struct call_group group = {.name = name};
    ARRAY_PUSH(m->groups, m->group_count, group);
    return &m->groups[m->group_count - 1];
}

/* ---- adding ---- */

static void call_groups_add_cell(struct table_cell *to, const struct table_cell *cell)
{
    if (cell->is == CELL_NUMBER)
        *to = table_cell_number((to->is == CELL_NUMBER ? to->number : 0) + cell->number);
    else if (cell->is == CELL_REAL)
        *to = table_cell_real((to->is == CELL_REAL ? to->real : 0) + cell->real);
}

static void add_row(struct call_groups_builder *m, uint32_t row)
{
    const struct table_cell *cells = result_table_cells(m->from, row);
    const char *mark = cells[m->mark].is == CELL_TEXT ? cells[m->mark].text : "";
    struct call_group *group = group_of(m, &cells[m->scope]);
    ARRAY_PUSH(group->rows, group->row_count, row);
    for (size_t i = 0; i < SUM_COUNT; i++)
        call_groups_add_cell(&group->sum[i], &cells[m->of[i]]);
    group->incomplete |= strncmp(mark, "INCOMPLETE", 10) == 0;
    group->counted |= strstr(mark, "counted, not timed") != NULL;
}

static double call_groups_column_value(const struct call_group *group, uint32_t column)
{
    const struct table_cell *cell = &group->sum[column];
    return cell->is == CELL_NUMBER ? (double)cell->number : cell->is == CELL_REAL ? cell->real : -1;
}

/* Compares groups by a sum, descending; context: its index, SUM_COUNT for the number of
 * functions. */
static int by_column(const void *a, const void *b, void *context)
{
    const struct call_group *x = a, *y = b;
    uint32_t column = *(const uint32_t *)context;
    double p = column < SUM_COUNT ? call_groups_column_value(x, column) : x->row_count,
           q = column < SUM_COUNT ? call_groups_column_value(y, column) : y->row_count;
    return p > q ? -1 : p < q ? 1 : strcmp(x->name, y->name);
}

static int call_groups_compare_reverse(const void *a, const void *b, void *context)
{
    return -by_column(a, b, context);
}

/* ---- the table ---- */

static void add_column(struct call_groups_builder *m, const char *name, const char *title,
                       uint8_t kind, const struct table_column *like, bool detail)
{
    struct table_column column = {.name = xstrdup(name),
                                  .title = xstrdup(title),
                                  .unit = xstrdup(kind == like->kind ? like->unit : ""),
                                  .kind = kind,
                                  .exact = like->exact,
                                  .detail = detail,
                                  .source = xstrdup(like->source)};
    ARRAY_PUSH(m->to->columns, m->to->column_count, column);
}

static void add_columns(struct call_groups_builder *m)
{
    const struct table_column *from = m->from->columns;
    add_column(m, m->how->by, m->how->by, TABLE_TEXT, &from[m->mark], false);
    add_column(m, "function", m->how->by, TABLE_PLACE, &from[m->scope], !m->how->tree);
    m->to->columns[SCOPE].under = 1 + GROUP;
    add_column(m, "functions", "functions", TABLE_COUNT, &from[m->of[0]], false);
    for (size_t i = 0; i < SUM_COUNT; i++) {
        const struct table_column *c = &from[m->of[i]];
        add_column(m, c->name, c->title, c->kind, c, c->detail);
    }
    add_column(m, "flags", "flags", TABLE_TEXT, &from[m->mark], false);
}

static struct table_cell *new_row(struct call_groups_builder *m, uint8_t depth)
{
    struct table_row row = {.depth = depth};
    uint32_t n = m->to->row_count;
    ARRAY_PUSH(m->to->rows, m->to->row_count, row);
    m->to->cells =
        xreallocarray(m->to->cells, (size_t)(n + 1) * m->to->column_count, sizeof *m->to->cells);
    struct table_cell *cells = result_table_cells(m->to, n);
    memset(cells, 0, m->to->column_count * sizeof *cells);
    return cells;
}

static struct table_cell call_groups_copy_cell(const struct table_cell *cell)
{
    struct table_cell copy = *cell;
    if (cell->is == CELL_TEXT)
        copy.text = xstrdup(cell->text);
    return copy;
}

static struct table_cell call_groups_text_cell(const char *text)
{
    return (struct table_cell){.is = CELL_TEXT, .text = xstrdup(text)};
}

static void show_group(struct call_groups_builder *m, const struct call_group *group)
{
    struct table_cell *cells = new_row(m, 0);
    cells[GROUP] = call_groups_text_cell(group->name);
    cells[FUNCTIONS] = table_cell_number(group->row_count);
    memcpy(cells + SUMS, group->sum, sizeof group->sum);
    cells[SUMS + SUM_COUNT] =
        call_groups_text_cell(group->incomplete && group->counted ? "INCOMPLETE, some not timed"
                              : group->incomplete                 ? "INCOMPLETE"
                              : group->counted                    ? "some not timed"
                                                                  : "");
    for (uint32_t i = 0; m->how->tree && i < group->row_count; i++) {
        const struct table_cell *from = result_table_cells(m->from, group->rows[i]);
        cells = new_row(m, 1);
        cells[SCOPE] = call_groups_copy_cell(&from[m->scope]);
        for (size_t k = 0; k < SUM_COUNT; k++)
            cells[SUMS + k] = from[m->of[k]];
        cells[SUMS + SUM_COUNT] = call_groups_copy_cell(&from[m->mark]);
    }
}

static void call_groups_finish_table(struct call_groups_builder *m)
{
    struct result_table *t = m->to;
    const struct table_cell *total = m->from->total;
    t->title = xasprintf("%s, by %s", m->from->title, m->how->by);
    t->total = xcalloc(t->column_count, sizeof *t->total);
    for (size_t i = 0; total && i < SUM_COUNT; i++)
        t->total[SUMS + i] = total[m->of[i]];
    for (uint32_t i = 0; i < m->from->note_count; i++)
        ARRAY_PUSH(t->notes, t->note_count, xstrdup(m->from->notes[i]));
    t->known = m->from->known;
    t->count = m->from->count;
}

/* Returns the index of the sum to sort by, as for by_column; UINT32_MAX: another column. */
static uint32_t sorted_by(const struct call_groups_builder *m)
{
    uint32_t column = result_table_find_column(m->to, m->how->sort ? m->how->sort : "self_ns");
    if (column == FUNCTIONS)
        return SUM_COUNT;
    return column >= SUMS && column < SUMS + SUM_COUNT ? column - SUMS : UINT32_MAX;
}

bool call_groups_make(struct result_table *to, const struct call_groups_options *how,
                      const struct table_names *names, const struct result_table *calls)
{
    struct call_groups_builder m = {.how = how,
                                    .names = names,
                                    .from = calls,
                                    .to = to,
                                    .scope = result_table_find_column(calls, "function"),
                                    .mark = result_table_find_column(calls, "flags")};
    bool good = m.scope < calls->column_count && m.mark < calls->column_count;
    *to = (struct result_table){0};
    for (size_t i = 0; i < SUM_COUNT; i++) {
        m.of[i] = result_table_find_column(calls, sums[i]);
        good = good && m.of[i] < calls->column_count;
    }
    if (!good)
        return false;
    add_columns(&m);
    for (uint32_t i = 0; i < calls->row_count; i++)
        add_row(&m, i);
    uint32_t column = sorted_by(&m);
    if (column != UINT32_MAX && m.group_count)
        qsort_r(m.groups, m.group_count, sizeof *m.groups,
                how->backwards ? call_groups_compare_reverse : by_column, &column);
    for (uint32_t i = 0; i < m.group_count && (!how->top || i < how->top); i++)
        show_group(&m, &m.groups[i]);
    call_groups_finish_table(&m);
    for (uint32_t i = 0; i < m.group_count; i++) {
        free(m.groups[i].name);
        free(m.groups[i].rows);
    }
    free(m.groups);
    return column != UINT32_MAX;
}
