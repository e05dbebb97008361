/* Sends and receives of stretches of bytes. */
#ifndef SERVER_ORDER_INTAKE_STREAM_H
#define SERVER_ORDER_INTAKE_STREAM_H

#include "server/order/state.h"

struct stream {
    struct stretch {
        uint64_t begin, end, left; /* bytes; how many nobody has received yet */
        struct ref send; /* line 0: no event sent them; number: an enum unseen, who did, 0 nobody */
        uint32_t saved; /* as of a meeting */
        bool delivered; /* the send */
    } *sent; /* by begin */
    size_t first, count, room; /* from `first` up to `count` */
    uint64_t key;
    struct stream *next; /* the older one */
    struct ends *ends; /* of a stream between hosts (ends.h); else NULL */
    uint32_t *waiting; /* lines */
    size_t waiting_count, waiting_room;
};
struct stream *stream_of(struct order *order, uint64_t key); /* made if it is not there */
void stream_add(struct order *order, uint64_t key, struct stretch sent);
void stream_drop(struct order *order, struct stream *stream, uint64_t end); /* what begins before */
void stream_wake(struct order *order, struct stream *stream); /* who waits looks again */
void stream_meet(struct order *order, const struct arrival *arrival);
void stream_leave(struct order *order, const struct arrival *arrival); /* see meetings_leave */
/* A receive gets its sends as partners; false: some are not there yet. */
bool stream_find(struct order *order, struct pending *receive);
void stream_received(struct order *order, const struct arrival *receive); /* it is delivered */
void streams_free(struct order *order);

#endif
