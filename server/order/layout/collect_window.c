/* Collects a window from the events that the passes found. */
#include "base/alloc.h"
#include "server/order/log/log_block.h"
#include "server/order/log/line_table.h"
#include "server/order/log/event_log.h"
#include "server/order/order.h"
#include "server/order/layout/collapse.h"
#include "server/order/layout/layout_left.h"
#include "server/order/order_state.h"

#include <stdlib.h>

static bool is_deep(const struct layout_job *job, uint64_t position)
{
    return job->left.base - order_point_end(job->order, position) - 1 > layout_left_depth(job);
}

static void collect_window_add_event(struct layout_job *job, struct layout_result *p,
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
static void collect_window_sort_events(struct layout_result *p, size_t left)
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
                collect_window_add_event(job, p, seen);
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
    collect_window_sort_events(p, left);
    (job->placing.many ? find_edges_of_many : find_edges)(job, p);
}
