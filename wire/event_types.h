/* The words that every room shares: what an event is and how events relate.
 *
 * An event is one point on one trace line.  Lines are numbered by the server
 * from 1; events of a line are numbered by the client from 1 without gaps.
 * Hidden lines, which only carry order, have HIDDEN_LINE set and count apart.
 */
#ifndef WIRE_EVENT_TYPES_H
#define WIRE_EVENT_TYPES_H

#include "wire/untraced.h"

#include <stdbool.h>
#include <stdint.h>

#define HIDDEN_LINE 0x80000000u
/* From here on positions in a stream are no bytes, but one for each closing of an end that writes,
 * where it goes from one host to another: who finds its end receives them all. */
#define STREAM_CLOSINGS (UINT64_C(1) << 62)

/* Names one event.  line 0 names none. */
struct event_id {
    uint32_t line;
    uint64_t number;
};

static inline bool event_id_equal(struct event_id a, struct event_id b)
{
    return a.line == b.line && a.number == b.number;
}

/* How an event is tied to others.
 *   NONE     to nothing but its line and its thread
 *   SYNC     one point of the order with its one partner
 *   SEND     before each of its partners, the receives
 *   RECEIVE  after each of its partners, the sends
 *   ORDER    after its partner, without an arrow of its own
 *   GROUP    one point with all members of its group */
enum relation {
    RELATION_NONE,
    RELATION_SYNC,
    RELATION_SEND,
    RELATION_RECEIVE,
    RELATION_ORDER,
    RELATION_GROUP,
    RELATION_COUNT
};

/* What the server makes of an event. */
enum event_state { EVENT_ORDERED, EVENT_PENDING, EVENT_CONTRADICTORY };

/* Answer to "how does A stand to B": BEFORE means A happened before B. */
enum causal_relation { ORDER_BEFORE, ORDER_AFTER, ORDER_CONCURRENT, ORDER_SAME, ORDER_UNKNOWN };

/* Where a thread is, seen from one line: not there, running there, blocked
 * there, or in it but running on another line now. */
enum occupancy { OCCUPANCY_OUT, OCCUPANCY_ACTIVE, OCCUPANCY_BLOCKED, OCCUPANCY_AWAY };

/* How many threads are in a line, by what they do.  Drawn as the line's style. */
struct occupants {
    uint16_t active, blocked, away;
};

#endif
