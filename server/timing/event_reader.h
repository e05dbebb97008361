/* Buffered reader of the events of an order: reads ahead sequentially and keeps recent events for a
 * while. */
#ifndef SERVER_TIMING_EVENT_READER_H
#define SERVER_TIMING_EVENT_READER_H

#include "base/alloc.h"
#include "server/order/order.h"

#include <stdlib.h>

#ifndef EVENTS_KEPT /* a power of two; tests make it small */
#define EVENTS_KEPT 1024u
#endif
#define EVENTS_AHEAD (EVENTS_KEPT / 8) /* read at once */

struct event_reader {
    const struct order *order;
    uint64_t from, end; /* positions in the buffer */
    struct order_event *kept; /* by position % EVENTS_KEPT */
    struct order_event other; /* the last event read that is not in the buffer */
};

static inline void event_reader_begin(struct event_reader *events, const struct order *order)
{
    *events = (struct event_reader){.order = order};
    events->kept = xcalloc(EVENTS_KEPT, sizeof *events->kept);
}

static inline void event_reader_free(struct event_reader *events)
{
    free(events->kept);
    *events = (struct event_reader){0};
}

/* Returns an event, as order_event() does, without `in`.  The pointer is valid until the next call.
 */
static inline const struct order_event *event_reader_other(struct event_reader *events,
                                                           uint64_t position)
{
    events->other = order_event(events->order, position);
    return &events->other;
}

static inline const struct order_event *event_reader_at(struct event_reader *events,
                                                        uint64_t position)
{
    return position - events->from < events->end - events->from
               ? &events->kept[position % EVENTS_KEPT]
               : event_reader_other(events, position);
}
/* Returns an event and reads ahead from it.  The event must exist. */
static inline const struct order_event *event_reader_read(struct event_reader *events,
                                                          uint64_t position)
{
    uint64_t at = position % EVENTS_KEPT, most = EVENTS_KEPT - at;
    if (position != events->end)
        events->from = position;
    events->end =
        position + order_read(events->order, position, most < EVENTS_AHEAD ? most : EVENTS_AHEAD,
                              &events->kept[at]);
    if (events->end - events->from > EVENTS_KEPT)
        events->from = events->end - EVENTS_KEPT;
    return &events->kept[at];
}

static inline const struct order_event *event_reader_next(struct event_reader *events,
                                                          uint64_t position)
{
    return position - events->from < events->end - events->from
               ? &events->kept[position % EVENTS_KEPT]
               : event_reader_read(events, position);
}

#endif
