/* Sends and receives of stretches of bytes. */
#ifndef SERVER_ORDER_INTAKE_STREAM_H
#define SERVER_ORDER_INTAKE_STREAM_H

#include "server/order/state.h"

struct stream {
    struct stretch {
        uint64_t begin, end, left; /* bytes; how many nobody has received yet */
        struct ref send;
        uint32_t saved; /* as of a meeting */
        bool delivered; /* the send */
    } *sent; /* by begin */
    size_t first, count, room; /* from `first` up to `count` */
    uint64_t key;
    struct stream *next; /* the older one */
    uint32_t *waiting; /* lines */
    size_t waiting_count, waiting_room;
};
void stream_add(struct order *order, uint64_t key, struct stretch sent);
void stream_meet(struct order *order, const struct arrival *arrival);
void stream_leave(struct order *order, const struct arrival *arrival); /* see meetings_leave */
/* A receive gets its sends as partners; false: some are not there yet. */
bool stream_find(struct order *order, struct pending *receive);
void stream_received(struct order *order, const struct arrival *receive); /* it is delivered */
void streams_free(struct order *order);

#endif
