/* The state of an order, for the modules of server/order alone: the log of delivered events, the
 * pending events, and what causality queries and layouts keep between queries. */
#ifndef SERVER_ORDER_ORDER_STATE_H
#define SERVER_ORDER_ORDER_STATE_H

#include "base/binary_heap.h"
#include "server/order/order.h"
#include "server/order/delivery/delivery_state.h"
#include "server/order/log/log_block.h"
#include "server/order/log/log_state.h"
#include "server/order/log/position_list.h"

#ifndef OPEN_BLOCKS /* tests make it small */
#define OPEN_BLOCKS 64u /* number of the newest blocks that stay open */
#endif
#ifndef PENDING_LIMIT
#define PENDING_LIMIT 2000000u /* arrivals that wait in memory, about 200 bytes each */
#endif
#ifndef PAGE_LINES
#define PAGE_LINES 256u /* lines of a page, which are saved together */
#endif
#ifndef REST_BYTES
#define REST_BYTES 65536u /* of the rest beside the lines: saved in parts of this size */
#endif
#ifndef RENDEZVOUS_DONE_KEPT
/* completed ones that are remembered, to detect extra members */
#define RENDEZVOUS_DONE_KEPT 65536u
#endif
#define NEIGHBOURS_MAX 64u /* a line with more is called dense */

enum { /* arrival.waits, of what is pending */
       WAITS_AFTER = 1, /* it names events in `after` */
       WAITS_LOST = 2, /* not an event: key[0] numbers are lost */
       WAITS_CONDEMNED = 4 /* its partner was inconsistent and named it */
};

/* Two cache lines, the first of which has what most events need: there may be millions, most of
 * which are not examined again for a long time. */
struct pending {
    _Alignas(128) struct arrival arrival; /* its partners are a copy: &one, or new memory */
    struct event_id one;
};

_Static_assert(sizeof(struct pending) == 128, "a waiting arrival is two cache lines");

/* Returns how many lost numbers this entry stands for; 0: it is an event. */
static inline uint64_t pending_lost(const struct pending *pending)
{
    return pending->arrival.waits & WAITS_LOST ? pending->arrival.key[0] : 0;
}

struct pending_ring { /* what is pending on a line, by number & (room - 1) */
    struct pending **items;
    uint32_t room, count;
};

/* spilled pending events of a line, in the block store: numbers begin .. end - 1 */
struct pending_spill {
    uint64_t begin, end;
    struct spill_part {
        uint64_t place;
        uint32_t batch;
    } *parts;
    size_t part_count, part_room, part_next;
    struct spilled_arrival {
        struct arrival arrival;
        struct event_id partner;
    } *buffer; /* the newest arrivals, not in the block store yet */
    uint32_t buffered, batch;
};

struct gap {
    uint64_t first, count, ordinal; /* ordinal of the event after the gap */
    bool left_out; /* of a part of an execution: nothing was lost; not saved */
};

struct occupant {
    uint32_t thread;
    uint8_t presence;
    uint64_t since; /* number of the event by which it entered */
};

/* Collects the earlier events of one type on a shared line. */
struct collector {
    uint32_t type, hidden;
    uint64_t ordinal; /* events of the shared line examined so far */
};

enum line_close_state { LINE_OPEN, LINE_CLOSED, LINE_CLOSING };

/* State that most idle lines do not need: their `more` points to line_more_empty, which is read
 * like any other and never written. line_more() allocates one, line_trim() frees it. */
struct line_more { /* its first cache line has what is needed for each event that waits */
    _Alignas(64) struct event_id wait; /* what the head waits for, line 0: nothing */
    struct pending_ring ring;
    struct pending_spill *spill; /* NULL: nothing is spilled */
    /* numbers of the line in order->pending.far, some of them delivered since; NULL: none */
    struct binary_heap *far;
    /* a heap of lines, each woken when this one has delivered a number */
    struct binary_heap_item *waiters;
    size_t waiter_room;
    uint64_t end; /* CLOSING: the line ends with this number */
    struct gap *gaps;
    size_t gap_count, gap_room;
    struct occupant *occupants;
    size_t occupant_room;
    struct collector *collectors;
    size_t collector_count, collector_room;
};

#define NEIGHBOURS_NEAR 2u /* neighbors that are stored in the line itself */

/* There may be millions: two cache lines, the first of which has what every event needs. */
struct order_line {
    _Alignas(64) uint64_t delivered; /* last number delivered or lost */
    uint64_t last; /* position of the newest event, NO_POSITION none */
    uint64_t acted; /* 1 + position of the last event of this line's thread */
    uint32_t occupant_count, waiter_count;
    bool shared;
    uint8_t closed; /* an enum line_close_state */
    bool gone, queued;
    bool leaving; /* it is about to be marked as gone */
    bool settled; /* gone, and no event arrived since: missing numbers are lost */
    bool dense; /* more neighbours than are listed, or some that cannot be */
    bool after_gap; /* the next event follows lost numbers */
    bool has_gaps;
    uint8_t neighbour_count;
    uint32_t kind, pending; /* pending: arrivals that wait */
    uint32_t opened_line; /* by which event, line 0: none */
    struct line_more *more; /* never NULL */
    uint64_t opened_number;
    struct position_list positions; /* by ordinal */
    uint64_t tied; /* position of the newest event with edges or a partner, or NO_POSITION */
    uint64_t base; /* ordinals before it are discarded */
    uint64_t highest; /* greatest number that arrived out of order */
    union { /* lines from which order enters */
        uint32_t near[NEIGHBOURS_NEAR];
        uint32_t *far; /* of more than NEIGHBOURS_NEAR */
    } neighbours;
};

_Static_assert(sizeof(struct order_line) == 128, "a line is two cache lines");

extern struct line_more line_more_empty; /* line_table.c; only read */

struct line_more *line_more(struct order_line *line); /* for writing */

static inline struct event_id line_opened_by(const struct order_line *line)
{
    return (struct event_id){line->opened_line, line->opened_number};
}

static inline const uint32_t *line_neighbors(const struct order_line *line)
{
    return line->neighbour_count > NEIGHBOURS_NEAR ? line->neighbours.far : line->neighbours.near;
}

static inline void line_stop_waiting(struct order_line *line)
{
    if (line->more->wait.line)
        line->more->wait = (struct event_id){0, 0};
}

struct rendezvous { /* the events that have one key */
    uint64_t a, b; /* the key */
    struct rendezvous *next, *previous; /* the older and the newer one */
    uint32_t saved; /* the newest save that has it, or need not have it */
    struct event_id *members;
    size_t count, room;
    uint32_t receives, expected; /* of a SEND: delivered so far; how many it has, 0 any number */
    bool done; /* all expected members have met; removed after a while */
    bool released; /* not all members arrived, and no event waits for the others any more */
    uint32_t *waiting; /* lines */
    size_t waiting_count, waiting_room;
};

/* The progress of discarding: lines that were not examined yet may list events before the first
 * one kept, which no longer have a position; order.c writes it. */
struct order_discarding {
    bool under_way;
    size_t line, hidden, evicted; /* the next ones to examine */
};

/* The inconsistencies that were reported; order.c adds them. */
struct inconsistency_list {
    struct inconsistency *items;
    size_t count, room;
};

/* The reasons of inconsistencies that were read from a saved order; order.c adds them. */
struct reason_texts {
    char **items;
    size_t count, room;
};

/* The types that come after others on shared lines; order.c writes it. */
struct after_rules {
    struct number_set *sets; /* by type */
    size_t room;
};

/* The saves; line_pages.c, order_save.c and saved_rest.c write it. */
struct order_saves {
    struct frozen_save *frozen; /* the one under way; NULL: none */
    uint64_t bytes; /* of parts in the block store, in the last save */
    uint32_t begun; /* so far */
};

struct order { /* the parts that each event needs come first */
    struct line_table lines;
    struct event_log log;
    struct line_pages pages[2]; /* of the lines, of the hidden ones */
    struct position_cache nodes;
    struct order_saves saves;
    struct after_rules after;
    struct effect_table effects;
    struct delivery_work work;
    struct order_figures figures;
    struct pending_arrivals pending;
    struct rendezvous_table rendezvous;
    struct byte_stream_table streams;
    struct late_receives late;
    struct uncertain_events uncertain;
    struct evicted_lines evicted;
    struct order_discarding discarding;
    struct inconsistency_list inconsistencies;
    struct reason_texts reasons;
    struct block_store shelf;
    struct search_scratch *scratch; /* of queries, see event_search.h */
};

/* Returns a copy of the reason that lives as long as the order, the same for equal texts. */
const char *order_intern_reason(struct reason_texts *reasons, const char *text, size_t size);
void order_add_inconsistency(struct inconsistency_list *list, struct inconsistency one);

/* Discards what uncertainty.c computed. */
void uncertainty_drop(struct uncertain_events *events);

#endif
