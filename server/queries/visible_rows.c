#include "server/queries/visible_rows.h"

#include "base/alloc.h"
#include "server/queries/event_answer.h"
#include "wire/limits.h"

#include <stdlib.h>

static const struct target_line_type *kind_of(const void *context, uint32_t line)
{
    const struct run *run = context;
    return run_line_type(run, run_line_at(run, line)->kind);
}

static const char *name_of(const void *context, uint32_t line)
{
    return run_line_at(context, line)->name;
}

static bool has_events(const struct run *run, uint32_t line)
{
    return order_line_events(run->order, line) > order_line_first(run->order, line);
}

uint32_t *visible_rows_lines(const struct run *run, uint32_t *count)
{
    uint32_t lines = (uint32_t)order_line_count(run->order),
             *rows = xcalloc(lines + 1, sizeof *rows);
    *count = 0;
    for (uint32_t line = 1; line <= lines; line++) {
        const struct target_line_type *kind = has_events(run, line) ? kind_of(run, line) : NULL;
        if (has_events(run, line) && (!kind || kind->drawn))
            rows[(*count)++] = line;
    }
    target_sort(rows, *count, &(struct target_lines){run, kind_of, name_of});
    return rows;
}

static void add_row(struct visible_rows *d, uint32_t line, bool joins)
{
    if (!line || line > d->lines || d->row_of[line - 1])
        return;
    if (joins && d->row_count) {
        struct row_info *row = &d->rows[d->row_count - 1];
        row->members = xreallocarray(row->members, row->member_count + 1, sizeof *row->members);
        row->lefts = xreallocarray(row->lefts, row->member_count + 1, sizeof *row->lefts);
        row->members[row->member_count++] = line;
        d->cluster[d->row_count - 1] = 1;
    } else {
        d->rows[d->row_count++].line = line;
    }
    d->row_of[line - 1] = d->row_count;
}

/* Returns by kind whether its lines are drawn; the caller frees it. */
static bool *drawn_kinds(const struct run *run)
{
    bool *drawn = xcalloc(run->kinds.count + 1, sizeof *drawn);
    for (uint32_t code = 0; code <= run->kinds.count; code++) {
        const struct target_line_type *kind = run_line_type(run, code);
        drawn[code] = !kind || kind->drawn;
    }
    return drawn;
}

/* Determines whether there are too many lines for a row each and, if so, which lines are drawn. */
static void visible_rows_scan_lines(struct visible_rows *d, const struct run *run,
                                    const struct window_request *r)
{
    uint32_t most = r->most_rows;
    if (!most || r->row_count || d->lines <= most)
        return;
    bool *kinds = drawn_kinds(run);
    d->is_drawn = xcalloc(d->lines + 1, sizeof *d->is_drawn);
    for (uint32_t line = 1; line <= d->lines; line++) {
        d->is_drawn[line - 1] = has_events(run, line) && kinds[order_line_kind(run->order, line)];
        d->drawn_count += d->is_drawn[line - 1];
    }
    free(kinds);
    d->many = d->drawn_count > most;
    if (d->many)
        return;
    free(d->is_drawn);
    d->is_drawn = NULL;
}

static void forget_rows(struct visible_rows *d)
{
    for (uint32_t i = 0; i < d->row_count; i++) {
        d->row_of[d->rows[i].line - 1] = 0;
        free(d->rows[i].members);
        free(d->rows[i].lefts);
        d->rows[i] = (struct row_info){0};
    }
    d->row_count = 0;
}

struct visible_line_set {
    uint32_t *items;
    size_t count, room;
};

static void note_line(struct visible_rows *d, struct visible_line_set *lines, uint32_t line)
{
    if (!line || line > d->lines || !d->is_drawn[line - 1] || d->row_of[line - 1])
        return;
    d->row_of[line - 1] = UINT32_MAX; /* noted */
    lines->items =
        array_reserve(lines->items, &lines->room, lines->count + 1, sizeof *lines->items);
    lines->items[lines->count++] = line;
}

static int by_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

/* Removes the placed events on lines without a row. */
static void drop_others(const struct visible_rows *d, const struct run *run,
                        struct layout_result *p)
{
    size_t kept = 0;
    p->first = INT32_MAX;
    p->last = INT32_MIN;
    for (size_t i = 0; i < p->count; i++) {
        struct layout_event placed = p->events[i];
        if (!d->row_of[order_event(run->order, placed.position).line - 1])
            continue;
        p->events[kept++] = placed;
        p->first = placed.column < p->first ? placed.column : p->first;
        p->last = placed.column > p->last ? placed.column : p->last;
    }
    p->count = kept;
}

void visible_rows_choose_seen(struct visible_rows *d, const struct run *run, uint32_t most,
                              struct layout_result *placement)
{
    struct visible_line_set seen = {0};
    forget_rows(d);
    for (size_t i = 0; i < placement->count; i++)
        note_line(d, &seen, order_event(run->order, placement->events[i].position).line);
    struct event_waiting pending = {0};
    if (!placement->more_right)
        pending = event_answer_pending_of(run, LIMIT_PENDING);
    for (size_t i = 0; i < pending.count; i++)
        note_line(d, &seen, pending.events[i].at.line);
    event_answer_waiting_free(&pending);
    for (size_t i = 0; i < seen.count; i++)
        d->row_of[seen.items[i] - 1] = 0;
    size_t count = seen.count;
    if (count > most) { /* threads have precedence over objects */
        for (size_t i = 0, threads = 0; i < seen.count; i++)
            if (order_thread_last(run->order, seen.items[i]) != NO_POSITION) {
                uint32_t line = seen.items[i];
                seen.items[i] = seen.items[threads];
                seen.items[threads++] = line;
            }
        seen.count = most;
    }
    if (seen.count)
        qsort(seen.items, seen.count, sizeof *seen.items, by_number);
    target_sort(seen.items, seen.count, &(struct target_lines){run, kind_of, name_of});
    for (size_t i = 0; i < seen.count; i++)
        add_row(d, seen.items[i], false);
    d->left_lines = count - d->row_count;
    d->idle_lines = d->drawn_count > count ? d->drawn_count - count : 0;
    free(seen.items);
    if (d->left_lines)
        drop_others(d, run, placement);
}

void visible_rows_choose(struct visible_rows *d, const struct run *run,
                         const struct window_request *r)
{
    d->lines = order_line_count(run->order);
    visible_rows_scan_lines(d, run, r);
    uint32_t most = r->row_count ? r->row_count : d->many ? r->most_rows : d->lines;
    d->row_of = xcalloc(d->lines + 1, sizeof *d->row_of);
    d->rows = xcalloc(most + 1, sizeof *d->rows);
    d->cluster = xcalloc(most + 1, 1);
    for (uint32_t i = 0; i < r->row_count; i++)
        add_row(d, r->rows[i], r->joined[i]);
    uint32_t count = 0, *all = r->row_count || d->many ? NULL : visible_rows_lines(run, &count);
    for (uint32_t i = 0; i < count; i++)
        add_row(d, all[i], false);
    free(all);
}

void visible_rows_free(struct visible_rows *d)
{
    for (uint32_t i = 0; i < d->row_count; i++) {
        free(d->rows[i].members);
        free(d->rows[i].lefts);
    }
    free(d->rows);
    free(d->is_drawn);
    free(d->row_of);
    free(d->cluster);
}
