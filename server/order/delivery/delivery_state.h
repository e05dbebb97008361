/* The parts of an order that server/order/delivery owns. The comment above each part names the file
 * that writes it. */
#ifndef SERVER_ORDER_DELIVERY_DELIVERY_STATE_H
#define SERVER_ORDER_DELIVERY_DELIVERY_STATE_H

#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct number_set {
    uint32_t *items;
    size_t count, room;
};

/* The memory of pending arrivals; node_pool.c writes it. */
struct node_pools {
    struct node_pool *oldest, *newest, *spare;
    struct node_pool *hand; /* the next one to merge with the one after it */
    struct node_pool_cluster *clusters;
    uint64_t count; /* in use */
};

/* The batches of all that is pending, oldest first; pending_events.c writes it. */
struct pending_batches {
    struct batch_share {
        uint32_t batch;
        uint64_t count;
    } *items;
    size_t count, room;
};

/* The arrivals that wait, beside what each line knows of its own; pending_events.c writes it. */
struct pending_arrivals {
    uint64_t in_memory, limit; /* arrivals; with more, some are spilled */
    struct node_pools pools;
    struct map far; /* (line, number) -> struct pending: numbers far ahead of their line */
    struct pending_batches batches;
    struct pending_walk *walks; /* under way */
};

/* The events that meet by a key; rendezvous_match.c writes it. */
struct rendezvous_table {
    struct map by_key; /* -> struct rendezvous */
    struct rendezvous *newest;
    struct rendezvous_key {
        uint64_t a, b;
    } *done; /* a ring of rendezvous that are done */
    size_t done_count, done_room;
};

/* The streams of bytes; byte_stream.c writes it. */
struct byte_stream_table {
    struct map by_key; /* key, 0 -> struct byte_stream */
    struct byte_stream *newest;
    struct stream_ends_state *ends; /* byte_stream.h; NULL: all streams are of one host */
};

/* The effects of events on the occupancy of lines, by kind of line; occupancy.c writes it. */
struct effect_table {
    struct effects {
        /* at 2 * type + paired: 0 unknown, else 1 + presence, + 8 if own; + 16 * (1 + presence)
         * on the line that it is about */
        uint8_t *by_type;
        size_t room;
    } *kinds;
    size_t room;
    void (*ask)(void *context, uint32_t kind, uint32_t type); /* NULL: no source */
    void *context; /* of `ask` */
};

/* Lines with heads to be checked, first in, first out; waiting_lines.c writes it. */
struct line_queue {
    uint32_t *items;
    size_t begin, count, room; /* room: a power of two */
};

/* Lines that have ended, and are not marked as gone yet. */
struct leaving_lines {
    uint32_t *lines;
    size_t next, count, room;
    size_t waiters; /* of the line before the next one, still to be woken */
};

/* The work that is left for the events that have arrived; insert.c writes it. */
struct delivery_work {
    struct line_queue queue;
    uint64_t looks_left; /* in this step */
    bool held; /* checking heads is suspended */
    bool deferred; /* until order_step is called */
    bool rereading; /* arrivals are read again: duplicates are not counted */
    bool ending; /* no peer is left that could add events */
    /* `ending`, and nothing else is left: events that wait by a key for a partner are delivered */
    bool finishing;
    struct leaving_lines leaving;
    struct number_set stragglers; /* gone lines on which an event arrived nevertheless */
};

#endif
