#include "server/order/placing/left.h"

#include "memory/map.h"
#include "server/order/log/block.h"
#include "server/order/log/glance.h"
#include "server/order/log/lines.h"
#include "server/order/log/log.h"
#include "server/order/order.h"
#include "server/order/placing/acting.h"
#include "server/order/placing/fold.h"
#include "server/order/placing/shut.h"
#include "server/order/state.h"

#include <string.h>

/* So far to the left is looked for what a window holds: the newest events are wanted, not the oldest
 * one of a thread that sleeps.  It depends on the window alone, so that one picture is always the same. */
#ifndef DEPTH_LEAST
#define DEPTH_LEAST 200000u
#endif
#define PUSHED_NEAR (1u << 20)

static void begin_left(struct place_job *job)
{
    struct sweep *sweep = &job->left;
    sweep_begin(job, sweep, 0);
    sweep->base = job->cut_most;
    if (sweep->base > order_count(job->order))
        sweep->base = order_count(job->order);
    while (sweep->base < order_count(job->order) && sweep->base > order_first(job->order) &&
           log_get(job->order, sweep->base, FIELD_POINT))
        sweep->base++;
    sweep->at = sweep->base;
}

bool left_has_more(const struct place_job *job, uint32_t line)
{
    const struct line *l = line_get(job->order, line);
    uint64_t until = job->cut[line - 1] < job->left.at ? job->cut[line - 1] : job->left.at;
    uint64_t first = line_has_kept(job->order, l)
                         ? order_line_at(job->order, line, order_line_first(job->order, line))
                         : NO_POSITION;
    return first < until;
}

static bool may_be_left(const struct place_job *job, const struct sweep *sweep, uint32_t thread)
{
    (void)
        job; /* where a thread began is not known: before its own line's first event it may have acted on others */
    return sweep->acted[thread - 1] <= sweep_left_edge(job);
}

void left_want(struct place_job *job)
{
    struct sweep *sweep = &job->left;
    if (!sweep->ready)
        begin_left(job);
    sweep->open = 0;
    sweep->looked = 0;
    sweep->unresolved = false;
    if (job->placing.many)
        sweep->open = acting_watch(job, sweep, may_be_left);
    else
        shut_begin(job, sweep);
    for (uint32_t line = 1; line <= job->lines && !job->placing.many; line++)
        if (sweep_row(job, line) && sweep->line[line - 1] <= sweep_left_edge(job) &&
            left_has_more(job, line))
            shut_open(sweep, line);
    sweep->done = sweep_left_edge(job) <= 0 || !sweep->open || sweep->at <= order_first(job->order);
}

uint64_t left_depth(const struct place_job *job)
{
    int32_t edge = sweep_left_edge(job);
    return DEPTH_LEAST + 16 * sweep_lines_counted(job) * (uint64_t)(edge > 0 ? edge : 0);
}

static void push(struct place_job *job, uint64_t from, int32_t column)
{
    struct sweep *sweep = &job->left;
    uint64_t index = sweep->base - 1 - from;
    if (from < order_first(job->order))
        return;
    if (index > sweep->base - sweep->at + PUSHED_NEAR) {
        if (sweep_pushed_far(sweep, from) < column)
            map_put(&sweep->far, from, 0, (void *)(intptr_t)column);
        return;
    }
    if (index >= sweep->known) {
        sweep_reserve(sweep, index);
        memset(sweep->column + sweep->known, 0, (index + 1 - sweep->known) * sizeof *sweep->column);
        sweep->known = index + 1;
    }
    if (sweep->column[index] < column)
        sweep->column[index] = column;
}

static void push_to_causes(struct place_job *job, uint64_t p, int32_t column)
{
    struct block_edges edges = block_edges(log_block(job->order, p), p % BLOCK_EVENTS);
    for (uint32_t i = 0; i < edges.count; i++)
        push(job, p - block_edge(&edges, i), column);
}

static void place_left(struct place_job *job, uint64_t p, uint32_t line, int32_t column, bool drawn)
{
    struct sweep *sweep = &job->left;
    uint32_t row = sweep_row(job, line);
    int32_t *at = sweep_newest(job, sweep, line), edge = sweep_left_edge(job);
    *at = column;
    push_to_causes(job, p, column);
    uint64_t back = log_get(job->order, p, FIELD_PREVIOUS);
    bool first = back == 0 || back > p || p - back < order_first(job->order);
    if (job->placing.many) {
        uint32_t thread = (uint32_t)log_get(job->order, p, FIELD_THREAD);
        acting_see(job, sweep, thread, column, column > edge);
    }
    if (!row)
        return;
    if (drawn && column > sweep->row[row - 1])
        sweep->row[row - 1] = column;
    sweep_see(sweep, p, line, -column, drawn);
    if (!job->placing.many && (column > edge || first))
        shut_close(sweep, line);
}

static void point_left(struct place_job *job, uint64_t begin, uint64_t end)
{
    struct sweep *sweep = &job->left;
    int32_t column = 0;
    for (uint64_t p = begin; p <= end; p++) {
        uint32_t line = block_line_of(log_get(job->order, p, FIELD_LINE));
        if (line == 0 || p >= sweep_cut(job, line))
            return; /* right of the cut */
        if (job->placing.fold)
            fold_look(&job->folds, p, true);
        if (*sweep_newest(job, sweep, line) > column)
            column = *sweep_newest(job, sweep, line);
        column = sweep_pushed(sweep, p, column);
    }
    bool room = sweep_needs_room(job, sweep, begin, end, &column);
    column += room;
    for (uint64_t p = begin; p <= end; p++) {
        uint32_t line = block_line_of(log_get(job->order, p, FIELD_LINE));
        place_left(job, p, line, column, sweep_draws(job, p, sweep_row(job, line)));
    }
}

static void next_point(struct place_job *job)
{
    uint64_t first = order_first(job->order), end = job->left.at - 1,
             span = log_get(job->order, end, FIELD_POINT);
    uint64_t begin = end - (span > end - first ? end - first : span);
    point_left(job, begin, end);
    job->left.at = begin;
}

/* As to the right: two events that are one point, the second at p. */
static __attribute__((noinline)) bool pass_pair(struct place_job *job, const struct glance *glance,
                                                uint64_t p)
{
    struct sweep *sweep = &job->left;
    uint32_t i = p % BLOCK_EVENTS, edge[2];
    int32_t *b = sweep_undrawn(job, sweep, glance->line[i]);
    int32_t *a = b && i > 0 ? sweep_undrawn(job, sweep, glance->line[i - 1]) : NULL;
    if (!a)
        return false;
    const struct block *rows = log_block(job->order, p);
    if (block_get(rows, i, FIELD_POINT) != 1 || !glance_pair(rows, i - 1, edge))
        return false;
    int32_t column = sweep_pushed(sweep, p - 1, sweep_pushed(sweep, p, *a > *b ? *a : *b));
    *a = *b = column;
    for (uint32_t k = 0; k < 2 && column; k++)
        if (edge[k])
            push(job, p - 1 + k - (edge[k] >> 2), column);
    return true;
}

/* As to the right: takes those events that come next, on lines in no row, down to `low` at most. */
static void pass_left(struct place_job *job, uint64_t low)
{
    struct sweep *sweep = &job->left;
    uint64_t block = (sweep->at - 1) - (sweep->at - 1) % BLOCK_EVENTS;
    low = low > block ? low : block;
    if (job->placing.many || job->placing.fold || sweep->at > job->cut_least)
        return;
    const struct glance *glance = log_glance(job->order, sweep->at - 1);
    for (uint64_t p = sweep->at; p-- > low && p - block < glance->known;) {
        uint32_t edge = glance->edge[p - block];
        int32_t *newest = sweep_undrawn(job, sweep, glance->line[p - block]);
        if (!newest || edge == GLANCE_LOOK) {
            if (edge != GLANCE_LOOK || p == low || !pass_pair(job, glance, p))
                break;
            sweep->at = --p;
            continue;
        }
        *newest = sweep_pushed(sweep, p, *newest);
        if (edge && *newest)
            push(job, p - (edge >> 2), *newest);
        sweep->at = p;
    }
}

bool left_step(struct place_job *job, uint64_t budget)
{
    struct sweep *sweep = &job->left;
    uint64_t first = order_first(job->order), looked = 0;
    while (sweep->at > first && sweep->open && looked < budget &&
           sweep->base - sweep->at <= left_depth(job)) {
        uint64_t before = sweep->at, depth = left_depth(job) + 1,
                 low = sweep->base > depth ? sweep->base - depth : 0;
        low = low > first ? low : first;
        pass_left(job, before - low > budget - looked ? before - (budget - looked) : low);
        if (sweep->at == before)
            next_point(job);
        looked += before - sweep->at;
        shut_left(job, before - sweep->at, false);
    }
    sweep->looked += looked;
    if (sweep->base - sweep->at > left_depth(job))
        shut_left(job, 0, true);
    sweep->unresolved =
        sweep->base - sweep->at > left_depth(job) && sweep->open && sweep->at > first;
    return sweep->at <= first || !sweep->open || sweep->unresolved;
}
