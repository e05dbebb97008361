/* Times that contradict the order, repaired: an event is moved forwards to the latest of what it
 * follows, as Lamport's clock does (1978), and only the events that need it are moved (after Taylor
 * and Coffin 1994). */
#ifndef SERVER_QUERIES_TIME_REPAIR_H
#define SERVER_QUERIES_TIME_REPAIR_H

#include "server/order/order.h"

#define REPAIR_LOG_MAX (1u << 20) /* so much of the log is gone through at once */

struct repaired_event {
    uint64_t position, point; /* the events of one point are moved alike */
    int64_t clock_ns; /* of its point, by the clocks */
    int64_t time_ns; /* repaired; before that as clock_ns */
    /* The latest of the other events given that is before it, by time, then by position;
     * NO_POSITION: none is.  Its own position: that is not known. */
    uint64_t behind;
    uint32_t line;
};

/* Sorts the events by position and sets what is repaired. */
void time_repair_events(const struct order *order, struct repaired_event *events, size_t count);

#endif
