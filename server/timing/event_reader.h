/* The events of an order one after the other, and those before once more: read many at once, and
 * kept for a while. */
#ifndef SERVER_TIMING_EVENT_READER_H
#define SERVER_TIMING_EVENT_READER_H

#include "server/order/order.h"

#ifndef EVENTS_KEPT /* a power of two; tests make it small */
#define EVENTS_KEPT 1024u
#endif
#define EVENTS_AHEAD (EVENTS_KEPT / 8) /* read at once */

struct event_reader {
    const struct order *order;
    uint64_t from, end; /* positions that are kept */
    struct order_event *kept; /* by position % EVENTS_KEPT */
    struct order_event other; /* asked for last of those that are not */
};

void event_reader_begin(struct event_reader *events, const struct order *order);
void event_reader_free(struct event_reader *events);
/* As order_event, without `in`; until the next call. */
const struct order_event *event_reader_other(struct event_reader *events, uint64_t position);
static inline const struct order_event *event_reader_at(struct event_reader *events,
                                                        uint64_t position)
{
    return position - events->from < events->end - events->from
               ? &events->kept[position % EVENTS_KEPT]
               : event_reader_other(events, position);
}
/* Likewise, and it is the first of those that come next: that and some more are read.  There is
 * such an event. */
const struct order_event *event_reader_read(struct event_reader *events, uint64_t position);
static inline const struct order_event *event_reader_next(struct event_reader *events,
                                                          uint64_t position)
{
    return position - events->from < events->end - events->from
               ? &events->kept[position % EVENTS_KEPT]
               : event_reader_read(events, position);
}

#endif
