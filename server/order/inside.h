/* What the files of server/order/ share and nobody else sees. */
#ifndef SERVER_ORDER_INSIDE_H
#define SERVER_ORDER_INSIDE_H

#include "server/order/map.h"
#include "server/order/order.h"

#define CHUNK_EVENTS 4096u

struct pending {
    struct arrival arrival;
    struct ref *partners; /* own copy */
    uint64_t lost;        /* not an event: this many lost numbers */
    bool condemned;       /* its partner was contradictory and named it */
};

struct waiter {
    uint64_t number; /* wakes when the other line has delivered this */
    uint32_t line;
};

struct gap {
    uint64_t first, count, ordinal; /* ordinal of the event after the gap */
};

struct sits {
    uint32_t thread;
    uint8_t presence;
    uint64_t since; /* number of the event by which it came in */
};

/* Collects the earlier events of one type on a shared line. */
struct collector {
    uint32_t type, hidden;
    uint64_t ordinal; /* events of the shared line looked at */
};

struct line {
    bool shared, closed, gone, queued;
    uint32_t kind;
    uint64_t delivered; /* last number delivered or lost */
    uint64_t pending;   /* arrivals that wait */
    uint64_t acted;     /* 1 + position of the last event whose thread is this line's */
    struct ref opened_by;
    struct ref wait; /* what the head waits for, line 0: nothing */
    uint64_t *positions; /* of the ordinals from base on */
    uint64_t count, base; /* events so far; forgotten ones of them */
    uint64_t highest;     /* greatest number that came */
    size_t room;
    struct gap *gaps;
    size_t gap_count, gap_room;
    struct waiter *waiters; /* a heap, least number first */
    size_t waiter_count, waiter_room;
    struct sits *sits;
    size_t sits_count, sits_room;
    struct collector *collectors;
    size_t collector_count, collector_room;
};

struct meeting { /* those who meet by one key */
    struct ref *members;
    size_t count, room;
    uint32_t *waiting; /* lines */
    size_t waiting_count, waiting_room;
};

struct set {
    uint32_t *items;
    size_t count, room;
};

struct effects { /* per kind: by 2 * type + paired, 0 none, else 1 + presence, + 8 if own */
    uint8_t *of;
    size_t room;
};

struct order {
    struct line *lines, *hidden;
    size_t line_count, line_room, hidden_count, hidden_room;
    struct event **chunks;
    struct chunk_start { /* where the pools stood when a chunk began */
        uint64_t edges, links;
    } *starts;
    size_t chunk_room, start_room;
    uint64_t count, first; /* first: kept from here on */
    uint64_t *edges; /* from edge_base on */
    uint64_t edge_count, edge_base;
    size_t edge_room;
    uint64_t *links; /* pairs: position of a receive, index of the next pair */
    uint64_t link_count, link_base;
    size_t link_room;
    struct map pending;  /* (line, number) -> struct pending */
    struct map meetings; /* key -> struct meeting */
    struct set *after;   /* by type */
    size_t after_room;
    struct effects *effects; /* by kind */
    size_t effects_room;
    uint32_t *work;
    size_t work_count, work_room;
    struct trouble *troubles;
    size_t trouble_count, trouble_room;
    struct order_figures figures;
};

struct line *order_get(const struct order *order, uint32_t line);

/* log.c: what has been delivered */
struct event *log_append(struct order *order, uint32_t line, uint64_t number);
void log_edge(struct order *order, struct event *event, uint64_t from);
void log_receive(struct order *order, struct event *receive, uint64_t send);
void log_gap(struct order *order, uint32_t line, uint64_t count);
/* The event that stands for `at` in the order: itself, or where it is lost or
 * contradictory the one before it on its exclusive line; else NO_POSITION. */
uint64_t log_standing(const struct order *order, struct ref at);
/* Adds the edges that the `after` set of the type asks for on a shared line.
 * Must be called before the event is appended; fills edges, returns how many. */
size_t log_collect(struct order *order, uint32_t line, uint32_t type, uint64_t *edges,
                   size_t room);

/* wait.c */
struct point { /* events that are delivered together; the first is the head that was looked at */
    struct pending **members;
    size_t count, room;
};

struct pending *pending_at(const struct order *order, struct ref ref);
void pending_free(struct pending *pending);
void line_enqueue(struct order *order, uint32_t number); /* its head is to be looked at */
void line_wake(struct order *order, uint32_t number);    /* those who waited for what it delivered */
bool point_has(const struct point *point, uint32_t line);
/* Lets the point wait for `need`; false if that closes a cycle of waiting lines. */
bool point_wait(struct order *order, const struct point *point, struct ref need);

/* deliver.c */
void point_append(struct order *order, const struct point *point, bool partner_lost);
void point_deliver(struct order *order, const struct point *point, bool partner_lost);
void point_contradict(struct order *order, struct pending *pending, struct ref with,
                      const char *why);
void pending_forget(struct order *order, struct pending *pending);

/* judge.c */
enum verdict { READY, READY_ALONE, WAITING, DONE };
enum verdict point_judge(struct order *order, struct point *point);
void point_add(struct point *point, struct pending *pending);
struct meeting *meeting_of(const struct order *order, const struct arrival *arrival);

/* presence.c */
void presence_apply(struct order *order, struct event *event);

#endif
