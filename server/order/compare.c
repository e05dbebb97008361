/* How two events stand to each other. */
#include "server/order/past.h"

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
    bool done = search_walk(&search, 300) && nothing_is_missing(order);
    while (!done && !search.found) /* about as much time for either */
        done = search_scan(&search, 16384) ||
               (search_walk(&search, 512) && nothing_is_missing(order));
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
