/* The two ends of a stream between hosts. */
#ifndef SERVER_ORDER_DELIVERY_STREAM_ENDS_H
#define SERVER_ORDER_DELIVERY_STREAM_ENDS_H

#include "base/map.h"
#include "server/order/order.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_stream;

struct stream_ends {
    bool reads, writes; /* reported */
    bool alone; /* the other one was waited for in vain */
    bool listed; /* some line waits, and it is in the list of such streams */
    /* address of the end that was not reported; the first end that reported was its peer */
    struct stream_place other;
    uint64_t since_ns; /* 0: not looked at yet */
    uint64_t dropped; /* bytes before it were dropped unread while it was alone; */
    uint64_t received; /*   and before that one they were received */
    uint32_t *writers; /* lines of the ends that reported to write */
    size_t writer_count, writer_room;
    uint32_t saved; /* as of a meeting */
};

struct stream_ends_state {
    struct map places; /* of host_streams.c alone */
    size_t streams;
    /* streams with one end reported, oldest first, from `first` on; some are not late any more */
    struct byte_stream **late;
    size_t first, stamped, count, room; /* stamped: those before it know since when */
    struct byte_stream **waited; /* in which lines wait */
    size_t waited_count, waited_room;
};

struct stream_ends_state *stream_ends_known(struct order *order); /* made if it is not there */
void stream_ends_touch(struct order *order, struct byte_stream *stream); /* before it changes */
/* Returns whether there were writers, and all of them have ended. */
bool stream_ends_are_gone(const struct order *order, const struct stream_ends *ends);
uint8_t
stream_ends_missing_reason(const struct order *order,
                           const struct byte_stream *stream); /* why no sender is awaited, else 0 */
void stream_ends_wait(struct order *order, struct byte_stream *stream); /* a line does */
/* Drops sent bytes that no one will receive. */
bool stream_ends_drop_bytes(struct order *order, struct byte_stream *stream, uint64_t begin,
                            uint64_t end);
/* Moves *begin behind dropped bytes.  Returns why a receive from there on is uncertain, else 0. */
uint8_t stream_ends_skip_dropped(const struct byte_stream *stream, uint64_t *begin, uint64_t end);
bool stream_ends_received(struct order *order, struct byte_stream *stream, uint64_t begin,
                          uint64_t end); /* true: they stay */
void stream_ends_free(struct stream_ends *ends);

#endif
