/* Vector clocks of chosen events of a run, such as those that a pattern is about, by which any two
 * of them are compared in constant time.
 *
 * One pass over the log keeps, for each trace line, how many chosen events of each chain happened
 * before its next event (Fidge 1988, Mattern 1989).  A chain consists of the points of chosen
 * events of one thread, as long as each is known to follow the previous one; so no order is assumed
 * on shared lines or where events were lost.  A new vector is made only where chains meet, and
 * lines keep only their changes.  Not thread-safe. */
#ifndef SERVER_ANALYSIS_EVENT_CLOCKS_H
#define SERVER_ANALYSIS_EVENT_CLOCKS_H

#include "server/order/order.h"

/* A clock: a vector, in which the number of one chain is at least `number`.  The clock of a chosen
 * event names its own chain, and its number there. */
struct event_clock {
    uint32_t vector, chain, number;
};

#define EVENT_CLOCKS_NO_CHAIN UINT32_MAX

struct event_clocks {
    const struct order *order;
    uint64_t first; /* first position of the pass */
    struct event_clocks_vector { /* `size` numbers by chain, from `offset` on; then zeros */
        size_t offset;
        uint32_t size;
    } *vectors; /* the first is empty */
    size_t vector_count, vector_room;
    uint32_t *numbers, *scratch;
    size_t number_count, number_room, scratch_room;
    struct event_clocks_line { /* its events from `position` on have this clock */
        struct event_clocks_change {
            uint64_t position;
            struct event_clock clock;
        } *changes;
        size_t count, room;
    } *lines, *hidden;
    size_t line_room, hidden_room;
    uint32_t *counts; /* by chain: its points */
    size_t chain_count, chain_room;
    uint32_t *chain_of; /* by thread, or line of an event without one: 1 + chain */
    size_t chain_of_room;
    size_t bytes;
    bool damaged; /* a part of the log could not be read: events that are not ordered may be */
};

void event_clocks_begin(struct event_clocks *clocks, const struct order *order, uint64_t first);
/* Adds the events of one synchronization point, from this position on; points must be
 * added in the order of the log.  chosen: whether one of them is chosen; *clock is the clock of all
 * of them then.  Returns false if they have no place in the order, or could not be read. */
bool event_clocks_add(struct event_clocks *clocks, uint64_t first, const struct order_event *events,
                      uint32_t count, bool chosen, struct event_clock *clock);
/* Returns how many points of a chain happened before an event with this clock, or are it. */
uint32_t event_clocks_number(const struct event_clocks *clocks, struct event_clock clock,
                             uint32_t chain);
/* Returns whether chosen event a happened before chosen event b.  They must not be of one point. */
static inline bool event_clocks_before(const struct event_clocks *clocks, struct event_clock a,
                                       struct event_clock b)
{
    return event_clocks_number(clocks, b, a.chain) >= a.number;
}
void event_clocks_free(struct event_clocks *clocks); /* it is empty then */

#endif
