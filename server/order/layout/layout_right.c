/* The layout pass to the right of the cut, and the parts of the log that it skips. */
#include "base/alloc.h"
#include "base/likely.h"
#include "server/order/layout/closed_lines.h"
#include "server/order/layout/collapse.h"
#include "server/order/layout/layout_pass.h"
#include "server/order/log/event_log.h"
#include "server/order/log/event_summary.h"
#include "server/order/log/line_table.h"
#include "server/order/log/log_block.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

/* ---- skipped ranges ---- */

#ifndef SKIP_AFTER
#define SKIP_AFTER 4096u /* minimum events before the first attempt */
#endif
#define SKIP_LEAST (SKIP_AFTER / 4 + 1) /* shorter ranges are not worth it */
#define SKIP_MOST (1u << 20)

/* Whether collapsed repeats and line groups draw an event depends on others, which may be in a
 * range that is skipped. */
bool skip_ranges_allowed(const struct layout_params *placing)
{
    bool clusters = false;
    for (uint32_t i = 0; i < placing->rows; i++)
        clusters |= placing->cluster[i] != 0;
    return !placing->fold && !clusters;
}

static int32_t *copy_of(const int32_t *from, size_t count)
{
    size_t room = 0;
    int32_t *to = array_reserve(NULL, &room, count + 1, sizeof *to);
    memcpy(to, from, count * sizeof *to);
    return to;
}

static void skip_remember_state(struct layout_job *job, struct layout_pass *pass, int32_t edge)
{
    size_t room = 0;
    if (pass->skip_count)
        return;
    pass->before = array_reserve(NULL, &room, 1, sizeof *pass->before);
    *pass->before = (struct layout_pass){.at = pass->at,
                                         .known = pass->known,
                                         .seen_count = pass->seen_count,
                                         .line = copy_of(pass->line, job->lines),
                                         .hidden = copy_of(pass->hidden, job->hidden_lines),
                                         .row = copy_of(pass->row, job->placing.rows)};
    pass->skip_edge = edge;
}

static void skip_add_range(struct layout_pass *pass, uint64_t from, uint64_t to)
{
    uint64_t sum = pass->skip_count ? pass->skips[pass->skip_count - 1].sum : 0;
    pass->skips =
        array_reserve(pass->skips, &pass->skip_room, pass->skip_count + 1, sizeof *pass->skips);
    pass->skips[pass->skip_count++] = (struct skip_range){from, to, sum + (to - from)};
}

/* Is it time for an attempt? */
static bool is_due(struct layout_job *job, struct layout_pass *pass, uint64_t looked)
{
    pass->waited += looked;
    if (!pass->wait) /* an attempt examines every line */
        pass->wait = SKIP_AFTER * (1 + (uint64_t)(job->lines + job->hidden_lines) / 256);
    if (!job->may_skip || !pass->open || pass->waited < pass->wait)
        return false;
    pass->waited = 0;
    return true;
}

static void skip_note_attempt(struct layout_pass *pass, bool skipped)
{
    if (skipped)
        pass->wait = SKIP_AFTER / 64 + 1; /* the next event is likely to be far, too */
    else
        pass->wait = pass->wait < SKIP_MOST ? 2 * pass->wait : SKIP_MOST;
}

/* Returns the position of the line's next event, or `next` if that is earlier or the line has left
 * the window. */
static uint64_t skip_next_on_line(struct layout_job *job, struct layout_pass *pass, uint32_t line,
                                  int32_t edge, uint64_t next)
{
    if (*layout_pass_newest(job, pass, line) >= edge)
        return next;
    uint64_t i = order_line_from(job->order, line, pass->at);
    uint64_t at =
        i < order_line_events(job->order, line) ? order_line_at(job->order, line, i) : NO_POSITION;
    return at < next ? at : next;
}

static bool is_far(const struct layout_pass *pass, uint64_t next)
{
    return next > pass->at + SKIP_LEAST;
}

/* Skips a range if it is time and there is one; `looked`: events examined since the last call. */
static void skip_ranges_right(struct layout_job *job, struct layout_pass *pass, uint64_t looked)
{
    uint64_t next = order_count(job->order);
    int32_t edge = layout_pass_right_edge(job);
    if (!is_due(job, pass, looked))
        return;
    for (uint32_t line = 1; line <= job->lines && is_far(pass, next); line++)
        next = skip_next_on_line(job, pass, line, edge, next);
    for (uint32_t line = 1; line <= job->hidden_lines && is_far(pass, next); line++)
        next = skip_next_on_line(job, pass, HIDDEN_LINE | line, edge, next);
    if (next < order_count(job->order))
        next -= log_get(job->order, next, FIELD_POINT);
    bool far = is_far(pass, next) && order_count(job->order) > next;
    if (far) {
        skip_remember_state(job, pass, edge);
        skip_add_range(pass, pass->at, next);
        pass->at = next;
    }
    skip_note_attempt(pass, far);
}

/* Returns to the state before the first skipped range, for a window that reaches further than the
 * one for which it was skipped. */
static void skip_ranges_undo(struct layout_job *job, struct layout_pass *pass, int32_t edge)
{
    struct layout_pass *before = pass->before;
    if (!pass->skip_count || edge <= pass->skip_edge)
        return;
    memcpy(pass->line, before->line, job->lines * sizeof *before->line);
    memcpy(pass->hidden, before->hidden, job->hidden_lines * sizeof *before->hidden);
    memcpy(pass->row, before->row, job->placing.rows * sizeof *before->row);
    pass->at = before->at;
    pass->known = before->known;
    pass->seen_count = before->seen_count;
    pass->skip_count = 0;
    pass->wait = pass->waited = 0;
    free(before->line);
    free(before->hidden);
    free(before->row);
    free(before);
    pass->before = NULL;
}

void skip_ranges_free(struct layout_pass *pass)
{
    if (pass->before) {
        free(pass->before->line);
        free(pass->before->hidden);
        free(pass->before->row);
        free(pass->before);
    }
    free(pass->skips);
}

static void begin_right(struct layout_job *job)
{
    struct layout_pass *pass = &job->right;
    layout_pass_begin(job, pass, -1);
    pass->base = job->cut_least;
    if (pass->base < order_first(job->order))
        pass->base = order_first(job->order);
    while (pass->base > order_first(job->order) && pass->base < order_count(job->order) &&
           log_get(job->order, pass->base, FIELD_POINT))
        pass->base--;
    pass->at = pass->base;
}

static bool may_be_right(const struct layout_job *job, const struct layout_pass *pass,
                         uint32_t thread)
{
    return pass->acted[thread - 1] < layout_pass_right_edge(job) &&
           line_get(job->order, thread)->acted > pass->at;
}

void layout_right_want(struct layout_job *job)
{
    struct layout_pass *pass = &job->right;
    int32_t edge = layout_pass_right_edge(job);
    if (!pass->ready)
        begin_right(job);
    skip_ranges_undo(job, pass, edge);
    pass->open = 0;
    pass->looked = 0;
    pass->unresolved = false;
    if (job->placing.many)
        pass->open = active_threads_watch(job, pass, may_be_right);
    else
        closed_lines_begin(job, pass);
    for (uint32_t line = 1; line <= job->lines && !job->placing.many; line++) {
        const struct order_line *l = line_get(job->order, line);
        if (layout_pass_row(job, line) && line_has_kept(job->order, l) && l->last >= pass->at &&
            l->last >= job->cut[line - 1] && pass->line[line - 1] < edge)
            closed_lines_open(pass, line);
    }
    pass->done = edge <= 0 || !pass->open;
}

/* Returns the greatest column of the events that the event at p follows. */
static int32_t column_before(struct layout_job *job, const struct log_block *rows, uint64_t p)
{
    struct layout_pass *pass = &job->right;
    uint32_t i = p % BLOCK_EVENTS;
    uint32_t line = block_line_of(block_get(rows, i, FIELD_LINE));
    int32_t column = line ? *layout_pass_newest(job, pass, line) : -1;
    struct block_edges edges = block_edges(rows, i);
    for (uint32_t k = 0; k < edges.count; k++) {
        uint64_t from = p - block_edge(&edges, k);
        int32_t there = from >= pass->base ? layout_pass_column(pass, from) : -1;
        column = there > column ? there : column;
    }
    return column;
}

static void see_right(struct layout_job *job, uint64_t p, int32_t column)
{
    uint32_t thread = (uint32_t)log_get(job->order, p, FIELD_THREAD);
    const struct order_line *own =
        thread && thread <= job->lines ? line_get(job->order, thread) : NULL;
    active_threads_see(job, &job->right, thread, column,
                       column >= layout_pass_right_edge(job) || (own && own->acted == p + 1));
}

static void place_right(struct layout_job *job, uint64_t p, uint32_t line, int32_t column,
                        bool drawn)
{
    struct layout_pass *pass = &job->right;
    uint32_t row = layout_pass_row(job, line);
    int32_t *at = layout_pass_newest(job, pass, line);
    pass->column[layout_pass_index(pass, p)] = *at = column;
    if (job->placing.many)
        see_right(job, p, column);
    if (!row)
        return;
    if (drawn && column > pass->row[row - 1])
        pass->row[row - 1] = column;
    layout_pass_see(pass, p, line, column, drawn);
    if (!job->placing.many &&
        (column >= layout_pass_right_edge(job) || line_get(job->order, line)->last == p))
        closed_lines_close(pass, line);
}

static void point_right(struct layout_job *job, uint64_t begin, uint64_t end)
{
    struct layout_pass *pass = &job->right;
    int32_t column = -1;
    bool right = false;
    layout_pass_reserve(pass, layout_pass_index(pass, end));
    for (uint64_t p = begin; p <= end; p++) {
        const struct log_block *rows = log_block(job->order, p);
        uint32_t line = block_line_of(block_get(rows, p % BLOCK_EVENTS, FIELD_LINE));
        right |= line && p >= layout_pass_cut(job, line);
    }
    if (!right) {
        for (uint64_t p = begin; p <= end; p++)
            pass->column[layout_pass_index(pass, p)] = -1;
        return;
    }
    for (uint64_t p = begin; p <= end; p++) {
        if (job->placing.fold)
            collapse_scan(&job->folds, p, false);
        int32_t before = column_before(job, log_block(job->order, p), p);
        column = before > column ? before : column;
    }
    bool room = layout_pass_needs_room(job, pass, begin, end, &column);
    column += room;
    for (uint64_t p = begin; p <= end; p++) {
        uint32_t line = block_line_of(log_get(job->order, p, FIELD_LINE));
        if (line)
            place_right(job, p, line, column,
                        layout_pass_draws(job, p, layout_pass_row(job, line)));
        else
            pass->column[layout_pass_index(pass, p)] = column;
    }
}

/* Returns the column of the event that the event at p follows by its edge, or -1. `before`: the
 * difference between a position and its index in `column`. */
static inline int32_t column_behind(const struct layout_pass *pass, uint64_t p, uint32_t edge,
                                    uint64_t before)
{
    uint64_t from = p - (edge >> 2);
    if (!edge || from < pass->base)
        return -1;
    return pass->skip_count ? layout_pass_column(pass, from) : pass->column[from - before];
}

/* Skips two events that are one point, as of a lock: both get the greatest column that either
 * follows. Returns false if they need a closer look. */
static __attribute__((noinline)) bool layout_right_skip_pair(struct layout_job *job,
                                                             const struct event_summary *glance,
                                                             uint64_t p, uint64_t before)
{
    struct layout_pass *pass = &job->right;
    uint32_t i = p % BLOCK_EVENTS, edge[2];
    int32_t *a = layout_pass_undrawn(job, pass, glance->line[i]);
    int32_t *b =
        a && i + 1 < glance->known ? layout_pass_undrawn(job, pass, glance->line[i + 1]) : NULL;
    if (!b)
        return false;
    const struct log_block *rows = log_block(job->order, p);
    if (block_get(rows, i + 1, FIELD_POINT) != 1 || block_get(rows, i + 2, FIELD_POINT) ||
        !event_summary_pair(rows, i, edge))
        return false;
    int32_t behind_a = column_behind(pass, p, edge[0], before),
            behind_b = column_behind(pass, p + 1, edge[1], before),
            behind = behind_a > behind_b ? behind_a : behind_b, column = *a > *b ? *a : *b;
    column = behind > column ? behind : column;
    pass->column[p - before] = pass->column[p + 1 - before] = *a = *b = column;
    return true;
}

/* The inputs of layout_right_skip's inner loop.  They are a struct of their own, so that storing
 * a column does not make the compiler reload all of them. */
struct layout_passing {
    const uint32_t *row_of;
    int32_t *line, *hidden, *column; /* of the pass; column: by position, less `before` */
    size_t lines, hidden_lines;
    uint64_t base, before;
};

static inline struct layout_passing layout_right_skipping_of(const struct layout_job *job,
                                                             uint64_t before)
{
    const struct layout_pass *s = &job->right;
    return (struct layout_passing){job->placing.row_of, s->line,           s->hidden, s->column,
                                   job->lines,          job->hidden_lines, s->base,   before};
}

/* As layout_pass_undrawn. */
static inline int32_t *newest_undrawn(const struct layout_passing *s, uint32_t code)
{
    uint64_t i = (uint64_t)(code >> 1) - 1;
    if (code & 1)
        return i < s->hidden_lines ? &s->hidden[i] : NULL;
    return i < s->lines && !s->row_of[i] ? &s->line[i] : NULL;
}

/* As column_behind() if no range was skipped. Branchless, since whether there is an edge is
 * unpredictable. */
static inline int32_t column_of_cause(const struct layout_passing *s, uint64_t p, uint32_t edge)
{
    uint64_t from = p - (edge >> 2);
    int32_t has = -(int32_t)((edge != 0) & (from >= s->base));
    return (s->column[(has ? from : s->base) - s->before] & has) | ~has;
}

/* Skips the next events of one block that are on lines without a row, alone or in pairs, up to the
 * first other event. Most events are like that: they only pass on the greatest column that they
 * follow, and take up none. */
static void layout_right_skip(struct layout_job *job, uint64_t most)
{
    struct layout_pass *pass = &job->right;
    uint64_t p = pass->at, block = p - p % BLOCK_EVENTS,
             end = most < BLOCK_EVENTS ? p + most : p + BLOCK_EVENTS;
    if (job->placing.many || job->placing.fold || p < job->cut_most)
        return;
    const struct event_summary *glance = log_event_summary(job->order, p);
    /* positions that have no place in `column` */
    uint64_t before = p - layout_pass_index(pass, p);
    end = end < block + glance->known ? end : block + glance->known;
    layout_pass_reserve(pass, end - before);
    const struct layout_passing s = layout_right_skipping_of(job, before);
    bool skipped = pass->skip_count > 0;
    for (; p < end; p++) {
        uint32_t edge = glance->edge[p - block];
        int32_t *newest = newest_undrawn(&s, glance->line[p - block]),
                column = newest ? *newest : 0;
        if (UNLIKELY(edge == EVENT_SUMMARY_CHECK || !newest)) {
            if (edge != EVENT_SUMMARY_CHECK || p + 1 >= end ||
                !layout_right_skip_pair(job, glance, p, before))
                break;
            p++;
            continue;
        }
        int32_t there =
            skipped ? column_behind(pass, p, edge, before) : column_of_cause(&s, p, edge);
        s.column[p - before] = *newest = there > column ? there : column;
    }
    pass->at = p;
}

bool layout_right_step(struct layout_job *job, uint64_t budget)
{
    struct layout_pass *pass = &job->right;
    uint64_t count = order_count(job->order), looked = 0;
    while (pass->at < count && looked < budget && pass->open) {
        uint64_t begin = pass->at;
        layout_right_skip(job, budget - looked);
        if (pass->at == begin) {
            uint64_t end = order_point_end(job->order, begin);
            point_right(job, begin, end);
            pass->at = end + 1;
        }
        looked += pass->at - begin;
        skip_ranges_right(job, pass, pass->at - begin);
        closed_lines_right(job, pass->at - begin, false);
    }
    pass->looked += looked;
    if (pass->looked > layout_pass_budget(job))
        closed_lines_right(job, 0, true);
    pass->unresolved = pass->looked > layout_pass_budget(job) && pass->open && pass->at < count;
    return pass->at >= count || !pass->open || pass->unresolved;
}
