/* Matches sends and receives of byte ranges of a stream. */
#ifndef SERVER_ORDER_DELIVERY_BYTE_STREAM_MATCH_H
#define SERVER_ORDER_DELIVERY_BYTE_STREAM_MATCH_H

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
    struct stream_ends *ends; /* of a stream between hosts (stream_ends.h); else NULL */
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

#endif
