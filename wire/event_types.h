/* Basic types that all modules share: events, and how events are related.
 *
 * An event is one point on one trace line. The server numbers lines from 1; the client numbers the
 * events of a line from 1 without gaps. Hidden lines, which only carry order, have HIDDEN_LINE set
 * and are numbered separately. */
#ifndef WIRE_EVENT_TYPES_H
#define WIRE_EVENT_TYPES_H

#include "wire/untraced.h"

#include <stdbool.h>
#include <stdint.h>

#define HIDDEN_LINE 0x80000000u
/* From here on, positions in a stream between hosts are not bytes: there is one for each closing of
 * a writing end. A reader that reaches the end of the stream receives them all. */
#define STREAM_CLOSINGS (UINT64_C(1) << 62)

/* Identifies an event; line 0: no event. */
struct event_id {
    uint32_t line;
    uint64_t number;
};

static inline bool event_id_equal(struct event_id a, struct event_id b)
{
    return a.line == b.line && a.number == b.number;
}

/* The relation of an event to others.
 *   NONE     only to its line and its thread
 *   SYNC     simultaneous with its one partner
 *   SEND     happened before each of its partners, the receives
 *   RECEIVE  happened after each of its partners, the sends
 *   ORDER    happened after its partner, without an arrow of its own
 *   GROUP    simultaneous with all members of its group */
enum relation {
    RELATION_NONE,
    RELATION_SYNC,
    RELATION_SEND,
    RELATION_RECEIVE,
    RELATION_ORDER,
    RELATION_GROUP,
    RELATION_COUNT
};

/* The result of ordering an event. */
enum event_state { EVENT_ORDERED, EVENT_PENDING, EVENT_CONTRADICTORY };

/* The relation of A to B: BEFORE means that A happened before B. */
enum causal_relation { ORDER_BEFORE, ORDER_AFTER, ORDER_CONCURRENT, ORDER_SAME, ORDER_UNKNOWN };

/* The occupancy of a line by a thread: not in it, running in it, blocked in it, or in it but
 * currently running on another line. */
enum occupancy { OCCUPANCY_OUT, OCCUPANCY_ACTIVE, OCCUPANCY_BLOCKED, OCCUPANCY_AWAY };

/* The number of threads in a line by occupancy. Drawn as the style of the line. */
struct occupants {
    uint16_t active, blocked, away;
};

#endif
