/* Placing: which column each event of a window gets.
 *
 * A view is an anchor cut, given by a position of the log (all earlier positions are
 * left of it; such a cut is consistent), and columns counted from it: right of the cut 0,
 * 1, 2, ..., left of it -1, -2, ....  Right of the cut an event's column is the length of
 * the longest chain of shown events from the cut to it; left of it, likewise backwards.
 * So members of a point share a column, a cause stands left of its effect, nothing is blank
 * that the order does not force, and scrolling by columns moves nothing relative to anything
 * else (Taylor, "Scrolling partially ordered event displays", names the properties; the
 * anchored longest path that has them is worked out in docs/order.md).
 *
 * Events on lines that are not shown pass order on and take no room.  On a shared line
 * succession is no order, but its events are drawn one after the other. */
#ifndef SERVER_ORDER_PLACE_H
#define SERVER_ORDER_PLACE_H

#include "server/order/order.h"

struct placed {
    uint64_t position;
    int32_t column;
    uint32_t fold; /* 0: itself; N: stands for N visits */
    uint64_t fold_end; /* position of the last event on its line that it stands for */
};

struct placing {
    uint64_t anchor;      /* position */
    int32_t from;         /* first column wanted */
    uint32_t columns;     /* how many; at least 1 */
    const uint8_t *shown; /* by line - 1: is it a row? */
    bool fold;            /* stretches of like, uncontended visits become one mark */
    bool (*has_text)(void *context, struct ref at); /* such an event is never folded */
    void *context;
};

struct placement {
    struct placed *events; /* by position */
    size_t count, room;
    int32_t first, last;   /* columns that hold anything, as far as was looked */
    bool more_left, more_right; /* shown events lie beyond the window */
    uint64_t *before;      /* by line - 1: ordinal of its first event not left of the window */
};

/* False if memory ran out. */
bool place(const struct order *order, const struct placing *placing, struct placement *placement);
void placement_free(struct placement *placement);

#endif
