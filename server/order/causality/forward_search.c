/* Forward search from the earlier of two events, to meet the walk back from the later one: where
 * both reach one line, and the walk as far as this search or further, the earlier event happened
 * before the later. Each then needs to reach only about the square root of the lines (bidirectional
 * search, Pohl 1971).
 *
 * It follows lines, points and receives, but not order edges, which are stored with the later event
 * only. So it can find that an event happened before another, never that it did not. */
#include "server/order/log/log_block.h"
#include "server/order/log/line_table.h"
#include "server/order/log/event_log.h"
#include "server/order/order.h"
#include "server/order/causality/backward_search.h"
#include "server/order/order_state.h"

static void forward_search_reach_event(struct event_search *search, uint64_t position)
{
    struct search_bound_table *bounds = &search->scratch->ahead;
    if (position > search->last)
        return;
    uint32_t number = block_line_of(log_get(search->order, position, FIELD_LINE));
    if (!line_place(search->order, number) || line_is_shared(search->order, number))
        return;
    struct search_bound *bound = search_bounds_at(bounds, number);
    if (bound->end && bound->end <= position + 1)
        return;
    bound->end = position + 1;
    bound->cursor = position;
    bound->ordinal = NO_POSITION;
    search->found |= search_bounds_end(&search->scratch->walked, number) > position;
    binary_heap_push(&search->scratch->to_reach, position, number);
}

static void reach_receive(void *search, uint64_t receive)
{
    forward_search_reach_event(search, receive);
}

static void forward_search_expand(struct event_search *search, uint64_t position)
{
    const struct order *order = search->order;
    if (log_get(order, position, FIELD_FLAGS) & FIELD_INCONSISTENT)
        return;
    if (log_sends(order, position))
        order_receives(order, position, reach_receive, search);
    uint64_t first = position - log_get(order, position, FIELD_POINT);
    for (uint64_t p = first;
         p < order->log.count && (p == first || log_get(order, p, FIELD_POINT) == p - first); p++)
        forward_search_reach_event(search, p);
}

/* Returns the next event of a line, or NO_POSITION. */
static uint64_t forward_search_step(const struct event_search *search, uint32_t number,
                                    struct search_bound *bound)
{
    if (bound->ordinal == NO_POSITION)
        bound->ordinal = order_line_from(search->order, number, bound->cursor);
    if (++bound->ordinal >= order_line_events(search->order, number))
        return NO_POSITION;
    uint64_t next = order_line_at(search->order, number, bound->ordinal);
    return next <= search->last ? next : NO_POSITION;
}

void forward_search_begin(struct event_search *search, uint64_t from, uint64_t last)
{
    search->last = last;
    search_bounds_begin(&search->scratch->ahead, search->order);
    search->scratch->to_reach.count = 0;
    forward_search_reach_event(search, from);
    forward_search_expand(search, from);
}

bool forward_search_run(struct event_search *search, uint64_t steps)
{
    struct search_scratch *scratch = search->scratch;
    while (steps-- && scratch->to_reach.count && !search->found) {
        struct binary_heap_item step = binary_heap_pop(&scratch->to_reach);
        uint64_t position = step.key;
        struct search_bound *bound = search_bounds_at(&scratch->ahead, step.value);
        if (bound->cursor != position)
            continue; /* the line was reached at an earlier position since */
        forward_search_expand(search, position);
        uint64_t next = forward_search_step(search, step.value, bound);
        if (next == NO_POSITION)
            continue;
        bound->cursor = next;
        binary_heap_push(&scratch->to_reach, next, step.value);
    }
    return search->found;
}
