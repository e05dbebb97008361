/* Byte streams: matches received bytes with the events that sent them.  A byte range is one send
 * or one receive; the programs choose both sizes, so a receive may have several sends and a send
 * several receives.  A stream between hosts has two ends, which are reported (host_streams.h). */
#ifndef SERVER_ORDER_DELIVERY_BYTE_STREAM_H
#define SERVER_ORDER_DELIVERY_BYTE_STREAM_H

#include "server/order/order_state.h"

struct byte_stream {
    struct byte_stream_range {
        uint64_t begin, end, left; /* positions of its bytes; number not received yet */
        /* line 0: no event sent them; then `number` is an enum untraced_reason, or 0 if they were
         * not sent */
        struct event_id send;
        uint32_t saved; /* the newest save that has it, or need not have it */
        bool delivered; /* the send is delivered */
    } *sent; /* by begin */
    size_t first, count, room; /* from `first` up to `count` */
    uint64_t key;
    struct byte_stream *next; /* the older one */
    struct stream_ends *ends; /* of a stream between hosts (below); else NULL */
    uint32_t *waiting; /* lines */
    size_t waiting_count, waiting_room;
};
/* Returns the stream with this key; creates it if necessary. */
struct byte_stream *byte_stream_for_key(struct byte_stream_table *streams, uint64_t key);
void byte_stream_add(struct order *order, uint64_t key, struct byte_stream_range sent);
/* Drops ranges that begin before `end`. */
void byte_stream_drop(struct order *order, struct byte_stream *stream, uint64_t end);
/* Enqueues the lines that wait for the stream. */
void byte_stream_wake(struct order *order, struct byte_stream *stream);
void byte_stream_match(struct order *order, const struct arrival *arrival);
/* Like rendezvous_leave_all(). */
void byte_stream_leave(struct order *order, const struct arrival *arrival);
/* Sets the partners of a receive to its sends; returns false if some have not arrived yet. */
bool byte_stream_find(struct order *order, struct pending *receive);
/* Notes that a receive was delivered. */
void byte_stream_received(struct order *order, const struct arrival *receive);
void byte_stream_free_all(struct byte_stream_table *streams);

/* ---- the two ends of a stream between hosts ----
 *
 * Which of its bytes will arrive, and which ends it is useless to wait for. */

struct stream_ends {
    bool reads, writes; /* reported */
    bool alone; /* the other end was awaited in vain */
    bool listed; /* a line waits, and the stream is in the list of such streams */
    /* place of the end that was not reported, as the peer of the reported end */
    struct stream_place other;
    uint64_t since_ns; /* 0: not examined yet */
    uint64_t dropped; /* bytes before it were dropped unread while it was alone; */
    uint64_t received; /*   and before that one they were received */
    uint32_t *writers; /* lines of the ends that reported to write */
    size_t writer_count, writer_room;
    uint32_t saved; /* the newest save that has it, or need not have it */
};

struct stream_ends_state {
    struct map places; /* used by host_streams.c only */
    size_t streams;
    /* streams with one end reported, oldest first, from `first` on; some are not late any more */
    struct byte_stream **late;
    size_t first, stamped, count, room; /* stamped: those before it have since_ns */
    struct byte_stream **waited; /* for which lines wait */
    size_t waited_count, waited_room;
};

/* Returns what is known of the ends of all streams, creating it if necessary. */
struct stream_ends_state *stream_ends_known(struct byte_stream_table *streams);
/* Must be called before the ends change. */
void stream_ends_touch(struct order *order, struct byte_stream *stream);
/* Returns whether there were writers, and all of them have ended. */
bool stream_ends_are_gone(const struct order *order, const struct stream_ends *ends);

#endif
