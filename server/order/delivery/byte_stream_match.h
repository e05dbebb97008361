/* Matches sends and receives of byte ranges of a stream. */
#ifndef SERVER_ORDER_DELIVERY_BYTE_STREAM_MATCH_H
#define SERVER_ORDER_DELIVERY_BYTE_STREAM_MATCH_H

#include "server/order/order_state.h"

struct byte_stream {
    struct byte_stream_range {
        uint64_t begin, end, left; /* bytes; how many were not received yet */
        /* line 0: no event sent them; number: then an enum untraced_reason, 0: they were not
         * sent */
        struct event_id send;
        uint32_t saved; /* as of a meeting */
        bool delivered; /* the send */
    } *sent; /* by begin */
    size_t first, count, room; /* from `first` up to `count` */
    uint64_t key;
    struct byte_stream *next; /* the older one */
    struct stream_ends *ends; /* of a stream between hosts (stream_ends.h); else NULL */
    uint32_t *waiting; /* lines */
    size_t waiting_count, waiting_room;
};
struct byte_stream *byte_stream_for_key(struct order *order,
                                        uint64_t key); /* made if it is not there */
void byte_stream_add(struct order *order, uint64_t key, struct byte_stream_range sent);
void byte_stream_drop(struct order *order, struct byte_stream *stream,
                      uint64_t end); /* what begins before */
/* the waiting lines check again */
void byte_stream_wake(struct order *order, struct byte_stream *stream);
void byte_stream_match(struct order *order, const struct arrival *arrival);
void byte_stream_leave(struct order *order,
                       const struct arrival *arrival); /* see rendezvous_leave_all */
/* Sets the partners of a receive to its sends; returns false if some have not arrived yet. */
bool byte_stream_find(struct order *order, struct pending *receive);
void byte_stream_received(struct order *order, const struct arrival *receive); /* it is delivered */
void byte_stream_free_all(struct order *order);

#endif
