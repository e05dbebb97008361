/* Searches through the order from one event: two back, a walk and a scan, and one forwards that
 * meets the walk; see order_compare. */
#ifndef SERVER_ORDER_CAUSALITY_EVENT_SEARCH_H
#define SERVER_ORDER_CAUSALITY_EVENT_SEARCH_H

#include "base/bitset.h"
#include "server/order/order_state.h"

/* The extent of the walk on each exclusive line.  A stamp distinguishes entries of earlier
 * searches, so that beginning a search costs nothing. */
struct search_bound_table {
    struct search_bound {
        uint64_t end; /* 1 + a position; 0: not reached */
        uint64_t cursor;
        union {
            uint64_t goal;    /* of a walk: 1 + the position of the goal, if it is on this line */
            /* of a forward search: of the event at the cursor; NO_POSITION: not known yet */
            uint64_t ordinal;
        };
        uint32_t stamp;
    } *lines, *hidden;
    size_t line_room, hidden_room;
    uint32_t now;
    struct bitset marks; /* events on shared lines, by position */
};

/* The extent of the scan, in a compact form: ends by line - 1, then of hidden lines. */
struct search_end_table {
    uint64_t *lines;
    size_t room, visible, hidden;
    struct bitset marks;
};

struct search_scratch {
    /* ahead, of the forward search: `end` is 1 + the least position reached */
    struct search_bound_table walked, ahead;
    struct search_end_table scanned;
    /* lines, 0: an event on a shared line; by UINT64_MAX - position, so that the greatest position
     * is first */
    struct binary_heap to_walk;
    struct binary_heap to_reach; /* of the forward search: lines by position */
};

struct event_search {
    const struct order *order;
    struct search_scratch *scratch;
    uint64_t least; /* nothing before this position matters */
    uint64_t goal, end; /* the goal, a point: first and last position; NO_POSITION: none */
    uint64_t last; /* of the forward search: nothing after this position matters */
    uint64_t at; /* of the scan: all positions from here on are processed */
    uint64_t reached; /* of the scan: exclusive lines reached */
    struct
    { /* the members of the goal on exclusive lines, at most two; more are found by the scan */
        uint32_t line;
        uint64_t end;
    } goals[2];
    bool found, doubt, scanning; /* doubt: the search passed through damaged events */
};

/* Begins a search at an event, with the scratch memory of the order if search->scratch is NULL. */
void backward_search_begin(struct event_search *search, const struct order *order, uint64_t from);
/* Each continues for about this many steps or events; returns true when it is complete. */
bool backward_search_walk(struct event_search *search, uint64_t steps);
bool backward_search_scan(struct event_search *search, uint64_t events);
/* Begins a forward search from the event that a walk is looking for, and continues it for about
 * `steps`; forward_search_run returns true when the event is found. */
void forward_search_begin(struct event_search *search, uint64_t from, uint64_t last);
bool forward_search_run(struct event_search *search, uint64_t steps);
void search_scratch_release(struct search_scratch *scratch);
uint64_t search_bounds_end(const struct search_bound_table *bounds, uint32_t line);
uint64_t search_ends_of(const struct search_end_table *ends, uint32_t line);

void search_scratch_free(struct order *order);

#endif
