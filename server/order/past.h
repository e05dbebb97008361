/* Two searches back through the order from one event, see order_compare. */
#ifndef SERVER_ORDER_PAST_H
#define SERVER_ORDER_PAST_H

#include "server/order/inside.h"

/* How far the walk reached on each exclusive line.  Entries of earlier searches are told by their
 * stamp, so that beginning one costs nothing. */
struct bounds {
    struct bound {
        uint64_t end; /* 1 + a position, 0 not at all */
        uint64_t cursor;
        uint64_t goal; /* 1 + the event looked for, if it is on this line */
        uint32_t stamp;
    } *lines, *hidden;
    size_t line_room, hidden_room;
    uint32_t now;
    struct map marks; /* events on shared lines, by position */
};

/* The same for the scan, where it must be small: ends by line - 1, then of hidden lines. */
struct ends {
    uint64_t *lines;
    size_t room, visible, hidden;
    struct map marks;
};

struct scratch {
    struct bounds walked;
    struct ends scanned;
    struct step { /* a heap, greatest position first */
        uint64_t position;
        uint32_t line; /* 0: an event on a shared line */
    } *heap;
    size_t heap_count, heap_room;
};

struct search {
    const struct order *order;
    struct scratch *scratch;
    uint64_t least;     /* nothing before this position matters */
    uint64_t goal, end; /* the point looked for: first and last position; NO_POSITION none */
    uint64_t at;        /* the scan: all from here on is done */
    uint64_t reached;   /* the scan: exclusive lines reached */
    struct { /* the members of the goal on exclusive lines, at most two; more are found by the scan */
        uint32_t line;
        uint64_t end;
    } goals[2];
    bool found, doubt, scanning;  /* doubt: the way leads through lost or damaged events */
};

/* Begins at an event; search->scratch NULL: with that of the order. */
void search_begin(struct search *search, const struct order *order, uint64_t from);
/* Each goes on for a while; true when it knows all. */
bool search_walk(struct search *search, uint64_t steps);
bool search_scan(struct search *search, uint64_t events);
void scratch_release(struct scratch *scratch);
uint64_t bounds_end(const struct bounds *bounds, uint32_t line);
uint64_t ends_of(const struct ends *ends, uint32_t line);

#endif
