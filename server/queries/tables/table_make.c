/* Construction of a table: columns, rows, their order, and notes; and its range and threads. */
#define _GNU_SOURCE
#include "base/alloc.h"
#include "base/map.h"
#include "server/queries/tables/table_query.h"
#include "server/run/activity_store.h"
#include "server/run/call_sites.h"
#include "server/run/event_times.h"
#include "server/run/untraced_reasons.h"
#include "wire/limits.h"
#include "wire/profile_region.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- code segments with the same name: they show their callers if these differ ---- */

static bool disambiguate_has_caller(const struct table_cell *cell)
{
    return cell->is == CELL_STEP && cell->between.caller.address;
}

static uint64_t disambiguate_key(struct table_place place)
{
    return place.address + place.process * 0x9e3779b97f4a7c15u;
}

static void *disambiguate_find_cell(const struct map *map, const struct table_cell *cell)
{
    return map_get(map, disambiguate_key(cell->between.from), disambiguate_key(cell->between.to));
}

static void disambiguate_put_cell(struct map *map, struct table_cell *cell)
{
    map_put(map, disambiguate_key(cell->between.from), disambiguate_key(cell->between.to), cell);
}

/* Records the first cell of each name, and the names that have several callers. */
static void disambiguate_note_cell(struct map *first, struct map *several, struct table_cell *cell)
{
    const struct table_cell *other = disambiguate_find_cell(first, cell);
    if (!other)
        disambiguate_put_cell(first, cell);
    else if (disambiguate_key(other->between.caller) != disambiguate_key(cell->between.caller))
        disambiguate_put_cell(several, cell);
}

void disambiguate_names(struct result_table *t)
{
    struct map first = {0}, several = {0};
    size_t count = (size_t)t->row_count * t->column_count;
    struct table_cell *cells = t->row_count ? result_table_cells(t, 0) : NULL;
    for (size_t i = 0; i < count; i++)
        if (disambiguate_has_caller(&cells[i]))
            disambiguate_note_cell(&first, &several, &cells[i]);
    for (size_t i = 0; i < count; i++)
        if (disambiguate_has_caller(&cells[i]) && !disambiguate_find_cell(&several, &cells[i]))
            cells[i].between.caller = (struct table_place){0};
    map_free(&first);
    map_free(&several);
}

/* ---- columns and rows ---- */

/* Returns a name as a title, "created_at_ns" as "created at", in new memory. */
static char *table_make_title(const char *name)
{
    static const char *const endings[] = {"_ns", "_text"};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t n = strlen(endings[i]);
        if (length > n && strcmp(name + length - n, endings[i]) == 0)
            length -= n;
    }
    char *title = xstrndup(name, length);
    for (char *c = title; *c; c++)
        if (*c == '_')
            *c = ' ';
    return title;
}

void table_add_column(struct result_table *t, const char *name, const char *title,
                      enum table_kind kind, const char *source)
{
    static const char *const units[TABLE_KIND_COUNT] = {[TABLE_NS] = "ns", [TABLE_FINE] = "ns"};
    struct table_column column = {.name = xstrdup(name),
                                  .title = title ? xstrdup(title) : table_make_title(name),
                                  .unit = xstrdup(units[kind] ? units[kind] : ""),
                                  .kind = (uint8_t)kind,
                                  .exact = !source,
                                  .source = xstrdup(source ? source : "order")};
    ARRAY_PUSH(t->columns, t->column_count, column);
}

/* In text output, places the last column below another one. */
static void table_under(struct result_table *t, const char *name)
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

struct table_cell table_cell_program(const struct table_view *view, uint32_t process)
{
    if (process >= view->run->processes.count)
        return (struct table_cell){0};
    const struct run_process *p = &view->run->processes.items[process];
    const char *slash = strrchr(p->path, '/');
    char *text = xasprintf("%s[%u]", slash ? slash + 1 : p->path, p->pid);
    struct table_cell cell = table_cell_text(text);
    free(text);
    return cell;
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
    uint32_t group; /* rows of one text in this column stay together; column_count: none */
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
/* Compares the groups of two rows: callers come before callees. */
static int table_make_compare_groups(const struct table_sorting *s, uint32_t i, uint32_t k)
{
    if (s->group == s->table->column_count)
        return 0;
    const struct table_cell *a = &result_table_cells(s->table, i)[s->group],
                            *b = &result_table_cells(s->table, k)[s->group];
    return a->is == CELL_TEXT && b->is == CELL_TEXT ? strcmp(b->text, a->text) : 0;
}

static int compare_rows(const void *x, const void *y, void *context)
{
    const struct table_sorting *s = context;
    uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
    const struct table_cell *a = &result_table_cells(s->table, i)[s->column],
                            *b = &result_table_cells(s->table, k)[s->column];
    int order = table_make_compare_groups(s, i, k);
    if (order)
        return order;
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
                                  .group = result_table_find_column(t, "relation"),
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

/* ---- notes about data that is missing or was discarded ---- */

bool table_note_unknown_before(const struct table_view *view, const struct thread_timeline *course)
{
    return order_first(view->run->order) && !course->born && course->made_ns == INTERVALS_NEVER;
}

/* Returns whether the notes are omitted: a report has them once, not below each of its tables. */
static bool missing_data_is_noted(const struct table_view *view)
{
    const char *missing = table_option(view->request, "missing");
    return missing && strcmp(missing, "0") == 0;
}

static void missing_data_note_discarded(const struct run *run, struct result_table *t)
{
    uint64_t first = order_first(run->order);
    if (first && first < order_count(run->order))
        table_add_note(
            t, "the first %llu events were discarded (--keep); data before %.3f ms is missing",
            (unsigned long long)first, (double)event_times_fitted(run, first) / 1e6);
}

void table_note_missing(const struct table_view *view, struct result_table *t)
{
    const struct run *run = view->run;
    uint64_t lost = run_lost(run) + order_unreadable_events(run->order), unsent = 0;
    for (size_t i = 0; i < run->processes.count; i++)
        unsent += run->processes.items[i].unsent && !run->processes.items[i].connected;
    if (missing_data_is_noted(view))
        return;
    missing_data_note_discarded(run, t);
    if (lost)
        table_add_note(t, "%llu event%s lost; thread activity in those gaps is unknown",
                       (unsigned long long)lost, lost == 1 ? "" : "s");
    uint64_t beyond = activity_is_beyond(run);
    if (beyond)
        table_add_note(t,
                       "no buffer space for the code segments of %llu record%s; shown as SITE → "
                       "SITE",
                       (unsigned long long)beyond, beyond == 1 ? "" : "s");
    uint64_t pending = order_figures(run->order).pending;
    if (pending && !run_connected(run))
        table_add_note(t, "%llu unordered event%s excluded", (unsigned long long)pending,
                       pending == 1 ? "" : "s");
    if (run->file.unfinished)
        table_add_note(t, run->file.still_written
                              ? "the file is still being written; later activity is unknown"
                              : "the trace is truncated; later activity is unknown");
    if (unsent)
        table_add_note(t, "%llu program%s killed or disconnected; %s last events may be missing",
                       (unsigned long long)unsent, unsent == 1 ? " was" : "s were",
                       unsent == 1 ? "its" : "their");
}

/* ---- range and threads ---- */

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

bool table_wants(const struct table_view *view, uint32_t line)
{
    const struct table_request *r = view->request;
    return !r->line_count ||
           bsearch(&line, r->lines, r->line_count, sizeof *r->lines, by_number) != NULL;
}

bool table_lives(const struct table_view *view, uint32_t line)
{
    const struct run *run = view->run;
    const struct target_line_type *kind = run_line_type(run, order_line_kind(run->order, line));
    return !kind || kind->threads;
}

/* Returns whether it ends with an event of the thread itself. */
static bool is_own(const struct interval *interval) { return interval->is != INTERVAL_SEGMENT; }

/* Returns how many of the first intervals lie in the past: those up to the last one that ends with
 * an event in it. */
static size_t count_past(const struct table_view *view, const struct thread_timeline *course)
{
    size_t low = 0, high = course->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2, i = middle;
        while (i < high && !is_own(&course->items[i]))
            i++;
        if (i < high && cone_contains(view->past, course->items[i].position))
            low = i + 1;
        else
            high = middle;
    }
    return low;
}

int64_t table_until(const struct table_view *view, const struct thread_timeline *course)
{
    int64_t until = INT64_MAX;
    if (view->past) {
        size_t n = count_past(view, course);
        bool began = course->start != NO_POSITION && cone_contains(view->past, course->start);
        until = n ? course->items[n - 1].to_ns : began ? course->start_ns : INT64_MIN;
    }
    return until < view->to_ns ? until : view->to_ns;
}

struct table_place table_place(const struct table_view *view, uint32_t place)
{
    uint32_t site = place ? call_sites_site(view->run, place) : 0;
    if (!site)
        return (struct table_place){0};
    const struct site *is = &view->run->sites.items[site - 1];
    return (struct table_place){is->process, is->address};
}

static struct table_place site_of(const struct activity_path *path)
{
    return (struct table_place){path->process,
                                path->site ? path->site - 1 : 0}; /* the call itself */
}

/* Returns a cell for a code segment in a path of calls, after the last call that ended in it. */
static struct table_cell calls_step(const struct table_view *view, struct code_segment_key step)
{
    if (!step.from)
        return table_cell_text("(thread)");
    const struct activity_path *path = activity_path(view->run, step.from);
    struct table_place function = {path->process, path->function}, after = {0};
    if (path->scope == SCOPE_OTHER)
        return table_cell_text("(other)");
    if (path->scope == SCOPE_WAITED)
        return table_cell_text(run_type_name(view->run, path->type));
    if (path->scope == SCOPE_NAMED)
        return (struct table_cell){.is = CELL_NAME, .place = function};
    if (step.to)
        after = site_of(activity_path(view->run, step.to));
    struct table_cell cell = table_cell_step_name(CELL_STEP_CALLS, function, after);
    cell.between.caller = site_of(path);
    return cell;
}

struct table_cell table_step(const struct table_view *view, uint32_t code)
{
    if (!code)
        return (struct table_cell){0};
    struct code_segment_key step = code_segments_at(&view->measured->steps, code);
    if (step.is == STEP_CALLS)
        return calls_step(view, step);
    return table_cell_step_name((enum cell_step_kind)step.is, table_place(view, step.from),
                                table_place(view, step.to));
}

struct event_id table_event(const struct table_view *view, uint64_t position)
{
    const struct order *order = view->run->order;
    if (position == NO_POSITION || position < order_first(order) || position >= order_count(order))
        return (struct event_id){0};
    struct order_event event = order_event(order, position);
    return (struct event_id){event.line, event.number};
}

struct table_cell table_site_cell(const struct table_view *view, uint32_t thread, uint64_t position)
{
    const struct run *run = view->run;
    if (!table_event(view, position).line)
        return (struct table_cell){0};
    struct order_event event = order_event(run->order, position);
    if (!event.site || (event.thread != thread && event.line != thread))
        return (struct table_cell){0};
    return table_cell_place(table_place(view, call_sites_for_line(run, event.site)));
}

int64_t table_length(const struct table_view *view)
{
    int64_t from = INT64_MAX, to = INT64_MIN;
    for (uint32_t i = 0; i < view->measured->thread_count; i++) {
        int64_t begin, end;
        if (!thread_states_lifetime(&view->lives, &view->measured->threads[i], &begin, &end))
            continue;
        from = begin < from ? begin : from;
        to = end > to ? end : to;
    }
    return to > from ? to - from : 0;
}
