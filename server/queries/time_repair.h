/* Repair of times that contradict the order: an event is moved forward to the latest of its
 * predecessors, as Lamport's clock does (1978), and only events that need it are moved (after
 * Taylor and Coffin 1994). */
#ifndef SERVER_QUERIES_TIME_REPAIR_H
#define SERVER_QUERIES_TIME_REPAIR_H

#include "server/order/order.h"

#define REPAIR_LOG_MAX (1u << 20) /* maximum length of the part of the log that one pass reads */

struct repaired_event {
    uint64_t position, point; /* all events of a synchronization point are moved together */
    int64_t clock_ns; /* time of its synchronization point by the clocks */
    int64_t time_ns; /* the repaired time; clock_ns before the repair */
    /* The latest of the other given events that is before it, by time, then by position.
     * NO_POSITION: none; its own position: unknown. */
    uint64_t behind;
    uint32_t line;
};

/* Compares two events by position, for qsort() and bsearch(). */
int repaired_event_by_position(const void *a, const void *b);
/* Sorts the events by position and sets time_ns and behind. */
void time_repair_events(const struct order *order, struct repaired_event *events, size_t count);

#endif
