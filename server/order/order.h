/* The partial order of one run: intake in any arrival order, then questions.
 *
 * Events are accepted as they come.  An event is *delivered* once all it follows
 * is delivered; delivered events form a log whose positions are a linear
 * extension of the order and never change.  The members of a point (a sync pair,
 * a group) have neighbouring positions.
 *
 * What an event follows: its predecessor on its line (an order only where the line is
 * exclusive), the events in `after`, the sends it receives, and on a shared line every
 * earlier event of the types in its type's `after` set, which hidden lines collect.
 *
 * A contradiction never stops anything: the event that closes it is set aside
 * (EVENT_CONTRADICTORY), reported once, and takes no part in the order.
 *
 * Intake follows the head-and-waiter scheme of centralised POET servers: each line's
 * head waits on one event at a time, so the wait-for graph has out-degree one and
 * a cycle is found by walking it from the edge that closes it.
 *
 * Not thread-safe.  Running out of memory aborts.  Knows no names, only codes.
 */
#ifndef SERVER_ORDER_ORDER_H
#define SERVER_ORDER_ORDER_H

#include "wire/event.h"

#include <stddef.h>

#define NO_POSITION UINT64_MAX

struct order;

/* One event as it comes in.  Arrays belong to the caller. */
struct arrival {
    struct ref at;
    uint32_t type;  /* code of the run */
    uint32_t about; /* line, 0 none */
    uint32_t thread; /* own line of the task that acts, 0 unknown */
    uint32_t site;
    int64_t time_ns;
    enum relation relation;
    bool closes; /* nothing may follow on this line */
    bool keyed;  /* partners meet by key; always for a GROUP */
    uint64_t key[2];
    uint32_t group_size;
    const struct ref *partners; /* SYNC: 1; RECEIVE: any; else ignored */
    uint32_t partner_count;
    struct ref after[2]; /* line 0: none */
};

/* One delivered event. */
struct event {
    uint64_t number;
    int64_t time_ns;
    uint64_t point;    /* first position of its point */
    uint64_t edges;    /* where its incoming edges begin, see order_edges */
    uint64_t receives; /* of a SEND: its receives, see order_receives */
    uint32_t line, thread, about, site;
    uint32_t type;
    uint32_t edge_count;   /* sends first, then order edges */
    uint16_t send_count;   /* how many of them are sends that it receives */
    uint8_t relation, state;
    bool partner_lost;     /* a partner will never come */
    bool opened;           /* its last edge is what its line was opened by */
    struct presences in;   /* on its line, after it */
};

struct trouble {
    struct ref at, with; /* with.line 0: nobody */
    const char *why;     /* a constant */
};

struct order_figures {
    uint64_t events, hidden_events, pending, lost, contradictions, duplicates;
};

struct order *order_new(void);
void order_free(struct order *order);

/* Makes a line; numbers count from 1, hidden ones from HIDDEN_LINE + 1. */
uint32_t order_line(struct order *order, bool shared, uint32_t kind);
void order_opened_by(struct order *order, uint32_t line, struct ref by);
/* Events of `type` on shared lines come after all earlier ones of `earlier`. */
void order_after(struct order *order, uint32_t type, uint32_t earlier);
/* Where a thread is after an event of `type`, with a partner or without, on a line
 * of `kind`; own: the line's own thread rather than the acting one. */
void order_effect(struct order *order, uint32_t kind, uint32_t type, bool paired,
                  enum presence presence, bool own);

/* Accepts an event; false if it was a duplicate and dropped. */
bool order_accept(struct order *order, const struct arrival *arrival);
/* The same for both ends of a sync pair at once. */
void order_accept_pair(struct order *order, const struct arrival *a, const struct arrival *b);
/* Numbers first .. first + count - 1 will never come. */
void order_lost(struct order *order, uint32_t line, uint64_t first, uint64_t count);
/* Nothing more comes on these lines: gaps before pending events are lost. */
void order_gone(struct order *order, const uint32_t *lines, size_t count);
/* Reports a contradiction that was seen outside. */
void order_report(struct order *order, struct ref at, struct ref with, const char *why);

/* Forgets the oldest part of the log, up to a position at most.  Forgotten events have no
 * position any more; questions about them have the answer ORDER_UNKNOWN. */
void order_forget(struct order *order, uint64_t position);
/* On a line without events: numbers up to this one are forgotten already. */
void order_forgotten(struct order *order, uint32_t line, uint64_t number);
/* Greatest number known of a line: delivered, lost or waiting. */
uint64_t order_line_highest(const struct order *order, uint32_t line);
uint64_t order_first(const struct order *order); /* first position that is kept */
uint64_t order_line_first(const struct order *order, uint32_t line); /* first kept ordinal */
bool order_is_forgotten(const struct order *order, struct ref at);

/* Looking.  Pointers stay valid until the next call that changes the order. */
uint64_t order_count(const struct order *order); /* delivered, all states, hidden ones too */
const struct event *order_event(const struct order *order, uint64_t position);
uint64_t order_position(const struct order *order, struct ref at); /* or NO_POSITION */
const uint64_t *order_edges(const struct order *order, const struct event *event);
/* Position of the next receive of a send: start with event->receives; *cursor
 * becomes 0 at the end. */
uint64_t order_receives(const struct order *order, uint64_t *cursor);
uint32_t order_lines(const struct order *order);        /* 1 .. result */
uint32_t order_hidden_lines(const struct order *order); /* HIDDEN_LINE + 1 .. */
bool order_line_shared(const struct order *order, uint32_t line);
bool order_line_closed(const struct order *order, uint32_t line);
uint32_t order_line_kind(const struct order *order, uint32_t line);
struct ref order_line_opened_by(const struct order *order, uint32_t line);
uint64_t order_line_events(const struct order *order, uint32_t line); /* delivered */
uint64_t order_line_at(const struct order *order, uint32_t line, uint64_t ordinal); /* kept ones */
/* Ordinal of the line's first event at or after a position. */
uint64_t order_line_from(const struct order *order, uint32_t line, uint64_t position);
/* Gaps of a line, oldest first; false past the last. */
bool order_line_gap(const struct order *order, uint32_t line, size_t i, uint64_t *first,
                    uint64_t *count);
/* Who is in a line at its end; since: number of the event by which it came in.  False
 * past the last. */
bool order_line_inside(const struct order *order, uint32_t line, size_t i, uint32_t *thread,
                       enum presence *presence, uint64_t *since);
/* Position of the last event, on any line, of the thread whose own line this is. */
uint64_t order_thread_last(const struct order *order, uint32_t line);
/* Last member's position of the point at `position`. */
uint64_t order_point_end(const struct order *order, uint64_t position);
struct order_figures order_figures(const struct order *order);
const struct trouble *order_troubles(const struct order *order, size_t *count);
/* Calls visit for every arrival that waits, in no particular order. */
void order_pending(const struct order *order,
                   void (*visit)(void *context, const struct arrival *), void *context);

/* How A stands to B.  Walks the log back from the later to the earlier event
 * and keeps, per exclusive line, how far the past reaches (Fidge's vectors,
 * computed for one event instead of stored for all). */
enum precedence order_compare(const struct order *order, struct ref a, struct ref b);

#endif
