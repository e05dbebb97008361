#include "base/likely.h"
#include "server/order/layout/layout_right.h"

#include "server/order/log/log_block.h"
#include "server/order/log/event_summary.h"
#include "server/order/log/line_table.h"
#include "server/order/log/event_log.h"
#include "server/order/order.h"
#include "server/order/layout/active_threads.h"
#include "server/order/layout/collapse.h"
#include "server/order/layout/skip_ranges.h"
#include "server/order/layout/closed_lines.h"
#include "server/order/order_state.h"

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
