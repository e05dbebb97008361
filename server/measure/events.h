/* The events of an order one after the other, and those before once more: read many at once, and kept for a while. */
#ifndef SERVER_MEASURE_EVENTS_H
#define SERVER_MEASURE_EVENTS_H

#include "server/order/order.h"

#ifndef EVENTS_KEPT /* a power of two; tests make it small */
#define EVENTS_KEPT 1024u
#endif
#define EVENTS_AHEAD (EVENTS_KEPT / 8) /* read at once */

struct events {
    const struct order *order;
    uint64_t from, end; /* positions that are kept */
    struct event *kept; /* by position % EVENTS_KEPT */
    struct event other; /* asked for last of those that are not */
};

void events_begin(struct events *events, const struct order *order);
void events_free(struct events *events);
/* As order_event, without `in`; until the next call. */
const struct event *events_other(struct events *events, uint64_t position);
static inline const struct event *events_at(struct events *events, uint64_t position)
{
    return position - events->from < events->end - events->from
               ? &events->kept[position % EVENTS_KEPT]
               : events_other(events, position);
}
/* Likewise, and it is the first of those that come next: that and some more are read.  There is such an event. */
const struct event *events_read(struct events *events, uint64_t position);
static inline const struct event *events_next(struct events *events, uint64_t position)
{
    return position - events->from < events->end - events->from
               ? &events->kept[position % EVENTS_KEPT]
               : events_read(events, position);
}

#endif
