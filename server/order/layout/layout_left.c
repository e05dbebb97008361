/* The layout pass to the left of the cut. */
#include "base/map.h"
#include "server/order/layout/closed_lines.h"
#include "server/order/layout/collapse.h"
#include "server/order/layout/layout_pass.h"
#include "server/order/log/event_log.h"
#include "server/order/log/event_summary.h"
#include "server/order/log/line_table.h"
#include "server/order/log/log_block.h"
#include "server/order/order.h"
#include "server/order/order_state.h"

#include <string.h>

/* The least depth of the search to the left, in events: the newest events are wanted, not the
 * oldest one of a thread that sleeps. The depth depends on the window alone, so that the same
 * window always has the same result. */
#ifndef DEPTH_LEAST
#define DEPTH_LEAST 200000u
#endif
#define PUSHED_NEAR (1u << 20)

static void begin_left(struct layout_job *job)
{
    struct layout_pass *pass = &job->left;
    layout_pass_begin(job, pass, 0);
    pass->base = job->cut_most;
    if (pass->base > order_count(job->order))
        pass->base = order_count(job->order);
    while (pass->base < order_count(job->order) && pass->base > order_first(job->order) &&
           log_get(job->order, pass->base, FIELD_POINT))
        pass->base++;
    pass->at = pass->base;
}

bool layout_left_has_more(const struct layout_job *job, uint32_t line)
{
    const struct order_line *l = line_get(job->order, line);
    uint64_t until = job->cut[line - 1] < job->left.at ? job->cut[line - 1] : job->left.at;
    uint64_t first = line_has_kept(job->order, l)
                         ? order_line_at(job->order, line, order_line_first(job->order, line))
                         : NO_POSITION;
    return first < until;
}

static bool may_be_left(const struct layout_job *job, const struct layout_pass *pass,
                        uint32_t thread)
{
    /* where a thread began is unknown: it may act on other lines before its own first event */
    (void)job;
    return pass->acted[thread - 1] <= layout_pass_left_edge(job);
}

void layout_left_want(struct layout_job *job)
{
    struct layout_pass *pass = &job->left;
    if (!pass->ready)
        begin_left(job);
    pass->open = 0;
    pass->looked = 0;
    pass->unresolved = false;
    if (job->placing.many)
        pass->open = active_threads_watch(job, pass, may_be_left);
    else
        closed_lines_begin(job, pass);
    for (uint32_t line = 1; line <= job->lines && !job->placing.many; line++)
        if (layout_pass_row(job, line) && pass->line[line - 1] <= layout_pass_left_edge(job) &&
            layout_left_has_more(job, line))
            closed_lines_open(pass, line);
    pass->done =
        layout_pass_left_edge(job) <= 0 || !pass->open || pass->at <= order_first(job->order);
}

uint64_t layout_left_depth(const struct layout_job *job)
{
    int32_t edge = layout_pass_left_edge(job);
    return DEPTH_LEAST + 16 * layout_pass_lines_counted(job) * (uint64_t)(edge > 0 ? edge : 0);
}

static void layout_left_push_event(struct layout_job *job, uint64_t from, int32_t column)
{
    struct layout_pass *pass = &job->left;
    uint64_t index = pass->base - 1 - from;
    if (from < order_first(job->order))
        return;
    if (index > pass->base - pass->at + PUSHED_NEAR) {
        if (layout_pass_pushed_far(pass, from) < column)
            map_put(&pass->far, from, 0, (void *)(intptr_t)column);
        return;
    }
    if (index >= pass->known) {
        layout_pass_reserve(pass, index);
        memset(pass->column + pass->known, 0, (index + 1 - pass->known) * sizeof *pass->column);
        pass->known = index + 1;
    }
    if (pass->column[index] < column)
        pass->column[index] = column;
}

static void push_to_causes(struct layout_job *job, uint64_t p, int32_t column)
{
    struct block_edges edges = block_edges(log_block(job->order, p), p % BLOCK_EVENTS);
    for (uint32_t i = 0; i < edges.count; i++)
        layout_left_push_event(job, p - block_edge(&edges, i), column);
}

static void place_left(struct layout_job *job, uint64_t p, uint32_t line, int32_t column,
                       bool drawn)
{
    struct layout_pass *pass = &job->left;
    uint32_t row = layout_pass_row(job, line);
    int32_t *at = layout_pass_newest(job, pass, line), edge = layout_pass_left_edge(job);
    *at = column;
    push_to_causes(job, p, column);
    uint64_t back = log_get(job->order, p, FIELD_PREVIOUS);
    bool first = back == 0 || back > p || p - back < order_first(job->order);
    if (job->placing.many) {
        uint32_t thread = (uint32_t)log_get(job->order, p, FIELD_THREAD);
        active_threads_see(job, pass, thread, column, column > edge);
    }
    if (!row)
        return;
    if (drawn && column > pass->row[row - 1])
        pass->row[row - 1] = column;
    layout_pass_see(pass, p, line, -column, drawn);
    if (!job->placing.many && (column > edge || first))
        closed_lines_close(pass, line);
}

static void point_left(struct layout_job *job, uint64_t begin, uint64_t end)
{
    struct layout_pass *pass = &job->left;
    int32_t column = 0;
    for (uint64_t p = begin; p <= end; p++) {
        uint32_t line = block_line_of(log_get(job->order, p, FIELD_LINE));
        if (line == 0 || p >= layout_pass_cut(job, line))
            return; /* right of the cut */
        if (job->placing.fold)
            collapse_scan(&job->folds, p, true);
        if (*layout_pass_newest(job, pass, line) > column)
            column = *layout_pass_newest(job, pass, line);
        column = layout_pass_pushed(pass, p, column);
    }
    bool room = layout_pass_needs_room(job, pass, begin, end, &column);
    column += room;
    for (uint64_t p = begin; p <= end; p++) {
        uint32_t line = block_line_of(log_get(job->order, p, FIELD_LINE));
        place_left(job, p, line, column, layout_pass_draws(job, p, layout_pass_row(job, line)));
    }
}

static void next_point(struct layout_job *job)
{
    uint64_t first = order_first(job->order), end = job->left.at - 1,
             span = log_get(job->order, end, FIELD_POINT);
    uint64_t begin = end - (span > end - first ? end - first : span);
    point_left(job, begin, end);
    job->left.at = begin;
}

/* As layout_right_skip_pair(), with the second event at p. */
static __attribute__((noinline)) bool
layout_left_skip_pair(struct layout_job *job, const struct event_summary *glance, uint64_t p)
{
    struct layout_pass *pass = &job->left;
    uint32_t i = p % BLOCK_EVENTS, edge[2];
    int32_t *b = layout_pass_undrawn(job, pass, glance->line[i]);
    int32_t *a = b && i > 0 ? layout_pass_undrawn(job, pass, glance->line[i - 1]) : NULL;
    if (!a)
        return false;
    const struct log_block *rows = log_block(job->order, p);
    if (block_get(rows, i, FIELD_POINT) != 1 || !event_summary_pair(rows, i - 1, edge))
        return false;
    int32_t column =
        layout_pass_pushed(pass, p - 1, layout_pass_pushed(pass, p, *a > *b ? *a : *b));
    *a = *b = column;
    for (uint32_t k = 0; k < 2 && column; k++)
        if (edge[k])
            layout_left_push_event(job, p - 1 + k - (edge[k] >> 2), column);
    return true;
}

/* As layout_right_skip(), down to `low` at most. */
static void layout_left_skip(struct layout_job *job, uint64_t low)
{
    struct layout_pass *pass = &job->left;
    uint64_t block = (pass->at - 1) - (pass->at - 1) % BLOCK_EVENTS;
    low = low > block ? low : block;
    if (job->placing.many || job->placing.fold || pass->at > job->cut_least)
        return;
    const struct event_summary *glance = log_event_summary(job->order, pass->at - 1);
    for (uint64_t p = pass->at; p-- > low && p - block < glance->known;) {
        uint32_t edge = glance->edge[p - block];
        int32_t *newest = layout_pass_undrawn(job, pass, glance->line[p - block]);
        if (!newest || edge == EVENT_SUMMARY_CHECK) {
            if (edge != EVENT_SUMMARY_CHECK || p == low || !layout_left_skip_pair(job, glance, p))
                break;
            pass->at = --p;
            continue;
        }
        *newest = layout_pass_pushed(pass, p, *newest);
        if (edge && *newest)
            layout_left_push_event(job, p - (edge >> 2), *newest);
        pass->at = p;
    }
}

bool layout_left_step(struct layout_job *job, uint64_t budget)
{
    struct layout_pass *pass = &job->left;
    uint64_t first = order_first(job->order), looked = 0;
    while (pass->at > first && pass->open && looked < budget &&
           pass->base - pass->at <= layout_left_depth(job)) {
        uint64_t before = pass->at, depth = layout_left_depth(job) + 1,
                 low = pass->base > depth ? pass->base - depth : 0;
        low = low > first ? low : first;
        layout_left_skip(job, before - low > budget - looked ? before - (budget - looked) : low);
        if (pass->at == before)
            next_point(job);
        looked += before - pass->at;
        closed_lines_left(job, before - pass->at, false);
    }
    pass->looked += looked;
    if (pass->base - pass->at > layout_left_depth(job))
        closed_lines_left(job, 0, true);
    pass->unresolved =
        pass->base - pass->at > layout_left_depth(job) && pass->open && pass->at > first;
    return pass->at <= first || !pass->open || pass->unresolved;
}
