/* How two events stand to each other. */
#include "server/order/past.h"

#ifndef TURN_EVENTS /* tests make it small */
#define TURN_EVENTS 256u /* that one search looks at before the next has its turn */
#endif

/* The walk leaves out what cannot lead anywhere new; where events are lost that may be what
 * forbids an answer. */
static bool nothing_is_missing(const struct order *order)
{
    return order->figures.lost == 0 && order->partners_lost == 0 && order->damaged_blocks == 0;
}

/* Does the point at `from` precede the one that ends at `to`?  from < to. */
static enum precedence precedes(const struct order *order, uint64_t from, uint64_t to)
{
    uint64_t goal = from - log_get(order, from, ROW_POINT);
    struct search search = {.least = goal, .goal = goal, .end = order_point_end(order, from)};
    search_begin(&search, order, to);
    bool done = search_walk(&search, TURN_EVENTS) && nothing_is_missing(order);
    if (!done && !search.found)
        search_ahead_begin(&search, from, to);
    for (unsigned turn = 0; !done && !search.found; turn++) /* about as much time for each */
        done = search_ahead(&search, TURN_EVENTS) ||
               (search_walk(&search, 2 * TURN_EVENTS) && nothing_is_missing(order)) ||
               (turn >= 8 && search_scan(&search, 64 * TURN_EVENTS));
    return search.found ? ORDER_BEFORE : search.doubt ? ORDER_UNKNOWN : ORDER_CONCURRENT;
}

enum precedence order_compare(const struct order *order, struct ref a, struct ref b)
{
    uint64_t pa = order_position(order, a), pb = order_position(order, b);
    if (pa == NO_POSITION || pb == NO_POSITION)
        return ref_equal(a, b) ? ORDER_SAME : ORDER_UNKNOWN;
    if (pa == pb)
        return ORDER_SAME;
    if ((log_get(order, pa, ROW_FLAGS) | log_get(order, pb, ROW_FLAGS)) & ROW_CONTRADICTORY ||
        log_get(order, pa, ROW_LINE) == 0 || log_get(order, pb, ROW_LINE) == 0)
        return ORDER_UNKNOWN;
    if (pa - log_get(order, pa, ROW_POINT) == pb - log_get(order, pb, ROW_POINT))
        return ORDER_SAME;
    if (pa < pb)
        return precedes(order, pa, pb);
    enum precedence back = precedes(order, pb, pa);
    return back == ORDER_BEFORE ? ORDER_AFTER : back;
}
