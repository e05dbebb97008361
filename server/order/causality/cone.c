/* The causal past or future of one event: how far it reaches on each line. */
#include "base/alloc.h"
#include "base/bitset.h"
#include "server/order/causality/event_search.h"
#include "server/order/log/event_log.h"
#include "server/order/log/line_table.h"
#include "server/order/log/log_block.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

struct cone {
    const struct order *order;
    uint64_t from, first, last; /* the event, and its point */
    bool future, done, scanned; /* scanned: the scan was done first */
    struct event_search search; /* of the past; its scratch is ours */
    struct search_scratch scratch;
    uint64_t at;      /* of the future: all events before it are processed */
    uint64_t limit;   /* the farthest position to examine */
    uint64_t *least; /* first events, by line - 1, then by hidden line; NO_POSITION: not reached */
    size_t lines, hidden;
    uint64_t left; /* exclusive lines with events there that are not reached yet */
    uint32_t counted; /* lines examined for `left` */
    struct bitset marks; /* future events on shared lines */
};

static uint64_t *least_on(struct cone *reach, uint32_t line)
{
    uint32_t i = (line & ~HIDDEN_LINE) - 1;
    if (line & HIDDEN_LINE)
        return i < reach->hidden ? &reach->least[reach->lines + i] : NULL;
    return i < reach->lines ? &reach->least[i] : NULL;
}

/* Counts the exclusive lines that have an event after `first` (of the past: before `last`), up to
 * line `until`. In steps, since the first event of a line may have to be read from a file. */
static void count_lines(struct cone *reach, uint32_t until)
{
    uint32_t lines = order_line_count(reach->order);
    for (; reach->counted < lines && reach->counted < until; reach->counted++) {
        uint32_t line = reach->counted + 1;
        const struct order_line *l = line_get(reach->order, line);
        reach->left +=
            !l->shared && line_has_kept(reach->order, l) &&
            (reach->future ? l->last >= reach->first
                           : order_line_at(reach->order, line,
                                           order_line_first(reach->order, line)) <= reach->last);
    }
}

struct cone *cone_new(const struct order *order, uint64_t position, bool future, uint64_t limit)
{
    struct cone *reach = xmalloc(sizeof *reach);
    *reach = (struct cone){.order = order, .from = position, .future = future, .limit = limit};
    reach->first = position - log_get(order, position, FIELD_POINT);
    reach->last = order_point_end(order, position);
    if (future)
        count_lines(reach, UINT32_MAX);
    if (!future) {
        reach->search =
            (struct event_search){.least = limit > order->log.first ? limit : order->log.first,
                                  .goal = NO_POSITION,
                                  .end = 0,
                                  .scratch = &reach->scratch};
        backward_search_begin(&reach->search, order, position);
        return reach;
    }
    reach->lines = order_line_count(order);
    reach->hidden = order_hidden_lines(order);
    reach->least = xmalloc((reach->lines + reach->hidden + 1) * sizeof *reach->least);
    memset(reach->least, 0xff, (reach->lines + reach->hidden) * sizeof *reach->least);
    reach->at = reach->first;
    return reach;
}

void cone_free(struct cone *reach)
{
    if (!reach)
        return;
    search_scratch_release(&reach->scratch);
    bitset_free(&reach->marks);
    free(reach->least);
    free(reach);
}

/* ---- the future: forwards through the log ---- */

static bool in_future(struct cone *reach, uint64_t position)
{
    if (position < reach->first)
        return false;
    uint32_t number = block_line_of(log_get(reach->order, position, FIELD_LINE));
    const struct order_line *line = line_get(reach->order, number);
    if (!line)
        return false;
    if (line->shared)
        return bitset_test(&reach->marks, position);
    const uint64_t *least = least_on(reach, number);
    return least && *least <= position;
}

static bool cone_contains_future(struct cone *reach, uint64_t position)
{
    if (position >= reach->first && position <= reach->last)
        return true;
    if (log_get(reach->order, position, FIELD_FLAGS) & FIELD_INCONSISTENT)
        return false;
    uint32_t number = block_line_of(log_get(reach->order, position, FIELD_LINE));
    const uint64_t *least = least_on(reach, number);
    if (least && *least < position)
        return true;
    struct block_edges edges =
        block_edges(log_block(reach->order, position), position % BLOCK_EVENTS);
    for (uint32_t i = 0; i < edges.count; i++) {
        if (in_future(reach, position - block_edge(&edges, i)))
            return true;
        if (edges.more)
            edges = block_edges(log_block(reach->order, position), position % BLOCK_EVENTS);
    }
    return false;
}

static void put_in_future(struct cone *reach, uint64_t position)
{
    uint32_t number = block_line_of(log_get(reach->order, position, FIELD_LINE));
    const struct order_line *line = line_get(reach->order, number);
    uint64_t *least = least_on(reach, number);
    if (line && line->shared) {
        bitset_set(&reach->marks, position);
    } else if (least && *least == NO_POSITION) {
        *least = position;
        reach->left -= reach->left && !(number & HIDDEN_LINE);
    }
}

static bool step_forwards(struct cone *reach, uint64_t budget)
{
    uint64_t count = order_count(reach->order), stop = reach->at + budget;
    count = reach->limit < count ? reach->limit + 1 : count;
    while (reach->at < count && reach->at < stop && reach->left) {
        uint64_t first = reach->at, end = order_point_end(reach->order, first);
        bool future = false;
        for (uint64_t p = first; p <= end && !future; p++)
            future = cone_contains_future(reach, p);
        for (uint64_t p = first; p <= end && future; p++)
            put_in_future(reach, p);
        reach->at = end + 1;
    }
    return reach->at >= count || reach->left == 0;
}

/* ---- steps and results ---- */

/* Is the past complete? It is once the scan has passed the last event known of each line: the rest
 * of the log leads only to earlier ones. */
static bool knows_all(const struct cone *reach)
{
    const struct search_end_table *ends = &reach->scratch.scanned;
    if (reach->counted < order_line_count(reach->order) || reach->search.reached < reach->left)
        return false;
    for (size_t i = 0; i < ends->visible; i++)
        if (ends->lines[i] && reach->search.at > ends->lines[i])
            return false;
    return true;
}

bool cone_step(struct cone *reach, uint64_t budget)
{
    if (reach->done)
        return true;
    if (reach->future)
        return reach->done = step_forwards(reach, budget);
    count_lines(reach, reach->counted + 8 + (uint32_t)(budget / 512));
    /* Whichever search ends first has the complete result. */
    if (backward_search_walk(&reach->search, budget / 8)) {
        reach->done = true;
    } else if (backward_search_scan(&reach->search, budget) || knows_all(reach)) {
        reach->done = reach->scanned = true;
    }
    return reach->done;
}

uint64_t cone_contains_on_line(const struct cone *reach, uint32_t line)
{
    if (reach->future) {
        uint32_t i = line - 1;
        return i < reach->lines ? reach->least[i] : NO_POSITION;
    }
    if (line == 0 || line > reach->scratch.walked.line_room)
        return NO_POSITION;
    uint64_t end = reach->scanned ? search_ends_of(&reach->scratch.scanned, line)
                                  : search_bounds_end(&reach->scratch.walked, line);
    return end ? end - 1 : NO_POSITION;
}

bool cone_contains(const struct cone *reach, uint64_t position)
{
    uint32_t number = block_line_of(log_get(reach->order, position, FIELD_LINE));
    const struct order_line *line = line_get(reach->order, number);
    if (!line || number & HIDDEN_LINE ||
        log_get(reach->order, position, FIELD_FLAGS) & FIELD_INCONSISTENT)
        return false;
    if (position >= reach->first && position <= reach->last)
        return true;
    if (line->shared) { /* its events have no succession */
        struct event_id a = {number, log_get(reach->order, position, FIELD_NUMBER)};
        struct event_id b = {block_line_of(log_get(reach->order, reach->from, FIELD_LINE)),
                             log_get(reach->order, reach->from, FIELD_NUMBER)};
        return order_compare(reach->order, a, b) == (reach->future ? ORDER_AFTER : ORDER_BEFORE);
    }
    uint64_t bound = cone_contains_on_line(reach, number);
    return bound != NO_POSITION && (reach->future ? position >= bound : position <= bound);
}
