#include "server/order/layout/column_assignment.h"

#include "base/alloc.h"
#include "base/map.h"
#include "server/order/layout/closed_lines.h"
#include "server/order/layout/collapse.h"
#include "server/order/layout/layout_pass.h"
#include "server/order/log/event_log.h"
#include "server/order/log/line_table.h"
#include "server/order/log/log_block.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>

static void sweep_free(struct layout_pass *pass)
{
    free(pass->line);
    free(pass->hidden);
    free(pass->row);
    free(pass->column);
    free(pass->seen);
    free(pass->acted);
    free(pass->watched);
    map_free(&pass->far);
    skip_ranges_free(pass);
    closed_lines_free(&pass->shut);
}

/* ---- jobs ---- */

static void bound_cut(struct layout_job *job)
{
    job->cut_least = job->cut_most = job->placing.anchor;
    for (size_t i = 0; i < job->lines + job->hidden_lines; i++) {
        job->cut_least = job->cut[i] < job->cut_least ? job->cut[i] : job->cut_least;
        job->cut_most = job->cut[i] > job->cut_most ? job->cut[i] : job->cut_most;
    }
}

struct layout_job *layout_columns_begin(const struct order *order,
                                        const struct layout_params *placing)
{
    size_t room = 0;
    struct layout_job *job = array_reserve(NULL, &room, 1, sizeof *job);
    *job = (struct layout_job){.order = order,
                               .placing = *placing,
                               .cut = layout_cut(order, placing),
                               .lines = order_line_count(order),
                               .hidden_lines = order_hidden_lines(order)};
    bound_cut(job);
    job->may_skip = skip_ranges_allowed(placing) && !placing->many;
    if (placing->many)
        active_threads_begin(job);
    job->folds = (struct collapse_state){.order = order, .placing = &job->placing, .cut = job->cut};
    layout_left_want(job);
    layout_right_want(job);
    return job;
}

void layout_columns_want(struct layout_job *job, int32_t from, uint32_t columns)
{
    job->placing.from = from;
    job->placing.columns = columns;
    layout_left_want(job);
    layout_right_want(job);
}

bool layout_columns_step(struct layout_job *job, uint64_t budget)
{
    uint64_t each = job->left.done || job->right.done ? budget : budget / 2 + 1;
    if (!job->left.done)
        job->left.done = layout_left_step(job, each);
    if (!job->right.done)
        job->right.done = layout_right_step(job, each);
    return job->left.done && job->right.done;
}

size_t layout_columns_weight(const struct layout_job *job)
{
    return job->left.seen_count + job->right.seen_count + (job->left.room + job->right.room) / 8;
}

void layout_columns_end(struct layout_job *job)
{
    if (!job)
        return;
    sweep_free(&job->left);
    sweep_free(&job->right);
    collapse_free(&job->folds);
    active_threads_end(job);
    free(job->cut);
    free(job);
}

void layout_columns(const struct order *order, const struct layout_params *placing,
                    struct layout_result *placement)
{
    struct layout_job *job = layout_columns_begin(order, placing);
    while (!layout_columns_step(job, UINT64_MAX >> 1))
        ;
    layout_columns_collect(job, placement);
    layout_columns_end(job);
}

void layout_result_free(struct layout_result *placement)
{
    free(placement->events);
    free(placement->before);
    *placement = (struct layout_result){0};
}

/* ---- the window: collected from the events that the passes found ---- */

static bool is_deep(const struct layout_job *job, uint64_t position)
{
    return job->left.base - order_point_end(job->order, position) - 1 > layout_left_depth(job);
}

static void window_add_event(struct layout_job *job, struct layout_result *p,
                             const struct layout_seen *seen)
{
    p->events = array_reserve(p->events, &p->room, p->count + 1, sizeof *p->events);
    uint32_t fold = collapse_of(&job->folds, seen->position);
    p->events[p->count++] =
        (struct layout_event){seen->position, seen->column, fold,
                              fold > 1 ? collapse_end(&job->folds, seen->position) : 0};
    p->first = seen->column < p->first ? seen->column : p->first;
    p->last = seen->column > p->last ? seen->column : p->last;
}

static uint32_t line_placed(const struct layout_job *job, const struct layout_result *p, size_t i)
{
    return block_line_of(log_get(job->order, p->events[i].position, FIELD_LINE));
}

static void find_edge(struct layout_job *job, struct layout_result *p, uint32_t line)
{
    uint64_t *before = &p->before[line - 1], frontier = job->cut[line - 1];
    if (job->placing.from > 0 && job->right.at > frontier)
        frontier = job->right.at;
    *before = order_line_from(job->order, line, *before == NO_POSITION ? frontier : *before);
}

/* As below, for the lines that have events in the window; the entries of other lines are not
 * used. */
static void find_edges_of_many(struct layout_job *job, struct layout_result *p)
{
    for (size_t i = p->count; i-- > 0;)
        p->before[line_placed(job, p, i) - 1] = p->events[i].position;
    for (size_t i = p->count; i-- > 0;) {
        uint32_t line = line_placed(job, p, i);
        /* the line's first event in the window, not converted yet */
        if (p->before[line - 1] == p->events[i].position)
            p->before[line - 1] = order_line_from(job->order, line, p->events[i].position);
    }
}

/* Finds, by line, the ordinal of the first event that is not left of the window: after the last one
 * that is. */
static void find_edges(struct layout_job *job, struct layout_result *p)
{
    for (uint32_t line = 1; line <= job->lines; line++)
        if (layout_pass_row(job, line))
            p->before[line - 1] = NO_POSITION;
    for (size_t i = job->right.seen_count; i-- > 0;) {
        const struct layout_seen *seen = &job->right.seen[i];
        if (seen->column >= job->placing.from)
            p->before[seen->line - 1] = seen->position;
    }
    for (size_t i = 0; i < job->left.seen_count; i++) { /* found in reverse order */
        const struct layout_seen *seen = &job->left.seen[i];
        if (seen->column >= job->placing.from && !is_deep(job, seen->position))
            p->before[seen->line - 1] = seen->position;
    }
    for (uint32_t line = 1; line <= job->lines; line++) {
        if (layout_pass_row(job, line))
            find_edge(job, p, line);
    }
}

static int by_position(const void *a, const void *b)
{
    uint64_t pa = ((const struct layout_event *)a)->position,
             pb = ((const struct layout_event *)b)->position;
    return pa < pb ? -1 : pa > pb;
}

/* Sorts the events by position. Those left of the cut were found in reverse order, apart from the
 * members of a point; the others are in order. */
static void window_sort_events(struct layout_result *p, size_t left)
{
    for (size_t i = 0, k = left; i + 1 < k; i++) {
        struct layout_event last = p->events[--k];
        p->events[k] = p->events[i];
        p->events[i] = last;
    }
    for (size_t i = 0; i + 1 < p->count; i++)
        if (p->events[i].position > p->events[i + 1].position) {
            qsort(p->events, p->count, sizeof *p->events, by_position);
            return;
        }
}

void layout_columns_collect(struct layout_job *job, struct layout_result *p)
{
    int32_t from = job->placing.from, edge = layout_pass_right_edge(job);
    *p = (struct layout_result){.first = INT32_MAX, .last = INT32_MIN};
    p->before = xcalloc(job->lines + 1, sizeof *p->before);
    const struct layout_pass *sweeps[] = {&job->left, &job->right};
    size_t left = 0; /* number of events left of the cut */
    for (int s = 0; s < 2; s++) {
        for (size_t i = 0; i < sweeps[s]->seen_count; i++) {
            const struct layout_seen *seen = &sweeps[s]->seen[i];
            p->more_left |= seen->column < from;
            p->more_right |= seen->column >= edge;
            if (s == 0 && is_deep(job, seen->position))
                p->more_left = true; /* found for another window */
            else if (seen->drawn && seen->column >= from && seen->column < edge)
                window_add_event(job, p, seen);
        }
        left = s == 0 ? p->count : left;
        p->unresolved |= sweeps[s]->unresolved || !sweeps[s]->done;
    }
    if (job->placing.many) {
        p->more_left |= job->left.at > order_first(job->order);
        p->more_right |= job->right.at < order_count(job->order);
    }
    for (uint32_t line = 1; line <= job->lines && !job->placing.many; line++) {
        const struct order_line *l = line_get(job->order, line);
        if (!layout_pass_row(job, line) || !line_has_kept(job->order, l))
            continue;
        p->more_left |= layout_left_has_more(job, line);
        p->more_right |= l->last >= job->right.at && l->last >= job->cut[line - 1];
    }
    window_sort_events(p, left);
    (job->placing.many ? find_edges_of_many : find_edges)(job, p);
}

/* ---- cut ----
 *
 * The cut at which a view begins: an anchor, changed by line moves. */

struct layout_cut_state {
    const struct order *order;
    uint64_t *cut;
    size_t lines;
    uint64_t *work; /* positions with causes that are not followed yet */
    size_t work_count, work_room;
};

static uint64_t *cut_of(struct layout_cut_state *c, uint32_t line)
{
    return &c->cut[line & HIDDEN_LINE ? c->lines + (line & ~HIDDEN_LINE) - 1 : line - 1];
}

static uint32_t line_of_position(const struct order *order, uint64_t position)
{
    uint32_t line = block_line_of(log_get(order, position, FIELD_LINE));
    return line_get(order, line) ? line : 0;
}

/* ---- forwards: an event that is moved to the left takes its past along ---- */

static void push_out(struct layout_cut_state *c, uint64_t position)
{
    uint32_t line = line_of_position(c->order, position);
    if (!line || position < *cut_of(c, line))
        return;
    c->work = array_reserve(c->work, &c->work_room, c->work_count + 1, sizeof *c->work);
    c->work[c->work_count++] = position;
}

static void follow_causes(struct layout_cut_state *c, uint64_t position)
{
    struct block_edges edges = block_edges(log_block(c->order, position), position % BLOCK_EVENTS);
    for (uint32_t i = 0; i < edges.count; i++) {
        push_out(c, position - block_edge(&edges, i));
        if (edges.more)
            edges = block_edges(log_block(c->order, position), position % BLOCK_EVENTS);
    }
    uint64_t first = position - log_get(c->order, position, FIELD_POINT);
    uint64_t end = order_point_end(c->order, position);
    for (uint64_t p = first; p <= end && first < end; p++)
        push_out(c, p);
}

static void move_forwards(struct layout_cut_state *c, uint32_t line, uint64_t events)
{
    uint64_t at = order_line_from(c->order, line, *cut_of(c, line));
    uint64_t n = order_line_events(c->order, line);
    if (at >= n)
        return;
    push_out(c, order_line_at(c->order, line, events < n - at ? at + events - 1 : n - 1));
    while (c->work_count) {
        uint64_t position = c->work[--c->work_count];
        uint32_t on = line_of_position(c->order, position);
        uint64_t *cut = cut_of(c, on), old = *cut;
        if (position < old)
            continue;
        /* left of the cut now: all of the line up to here, and what it follows */
        *cut = position + 1;
        for (uint64_t p = position; p >= old && p < c->order->log.count;) {
            follow_causes(c, p);
            uint64_t back = log_get(c->order, p, FIELD_PREVIOUS);
            if (back == 0 || back > p)
                break;
            p -= back;
        }
    }
}

/* ---- backwards: an event that is moved to the right takes its future along ---- */

static bool is_right(struct layout_cut_state *c, uint64_t position)
{
    uint32_t line = line_of_position(c->order, position);
    return line && position >= *cut_of(c, line);
}

static bool layout_cut_must_precede(struct layout_cut_state *c, uint64_t position)
{
    if (is_right(c, position))
        return true;
    struct block_edges edges = block_edges(log_block(c->order, position), position % BLOCK_EVENTS);
    for (uint32_t i = 0; i < edges.count; i++) {
        if (is_right(c, position - block_edge(&edges, i)))
            return true;
        if (edges.more)
            edges = block_edges(log_block(c->order, position), position % BLOCK_EVENTS);
    }
    return false;
}

static void move_backwards(struct layout_cut_state *c, uint32_t line, uint64_t events)
{
    uint64_t at = order_line_from(c->order, line, *cut_of(c, line));
    uint64_t first = order_line_first(c->order, line), limit = 0;
    if (at <= first)
        return;
    uint64_t to = order_line_at(c->order, line, at - first > events ? at - events : first);
    if (to == NO_POSITION)
        return;
    for (size_t i = 0; i < c->lines + c->order->lines.hidden.count; i++)
        limit = c->cut[i] > limit ? c->cut[i] : limit;
    *cut_of(c, line) = to;
    to -= log_get(c->order, to, FIELD_POINT);
    for (uint64_t p = to, end; p < limit && p < c->order->log.count; p = end + 1) {
        bool comes = false;
        end = order_point_end(c->order, p);
        for (uint64_t q = p; q <= end && !comes; q++)
            comes = layout_cut_must_precede(c, q);
        for (uint64_t q = p; q <= end && comes; q++) {
            uint32_t on = line_of_position(c->order, q);
            if (on && *cut_of(c, on) > q)
                *cut_of(c, on) = q;
        }
    }
}

uint64_t *layout_cut(const struct order *order, const struct layout_params *placing)
{
    size_t room = 0;
    struct layout_cut_state c = {.order = order, .lines = order_line_count(order)};
    c.cut = array_reserve(NULL, &room, c.lines + order->lines.hidden.count + 1, sizeof *c.cut);
    for (size_t i = 0; i < c.lines + order->lines.hidden.count; i++)
        c.cut[i] = placing->anchor;
    for (size_t i = 0; i < placing->move_count; i++) {
        struct line_move move = placing->moves[i];
        if (!move.line || move.line > c.lines)
            continue;
        int64_t by = move.events;
        if (move.to)
            by -= (int64_t)order_line_from(order, move.line, *cut_of(&c, move.line));
        if (by > 0)
            move_forwards(&c, move.line, (uint64_t)by);
        else if (by < 0)
            move_backwards(&c, move.line, 0 - (uint64_t)by);
    }
    free(c.work);
    return c.cut;
}
