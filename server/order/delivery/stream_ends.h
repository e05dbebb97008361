/* The two ends of a stream between hosts. */
#ifndef SERVER_ORDER_DELIVERY_STREAM_ENDS_H
#define SERVER_ORDER_DELIVERY_STREAM_ENDS_H

#include "base/map.h"
#include "server/order/order.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_stream;
struct byte_stream_table;

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

struct stream_ends_state *stream_ends_known(struct byte_stream_table *streams); /* creates it */
/* Must be called before the ends change. */
void stream_ends_touch(struct order *order, struct byte_stream *stream);
/* Returns whether there were writers, and all of them have ended. */
bool stream_ends_are_gone(const struct order *order, const struct stream_ends *ends);
/* Returns why no sender is awaited, or 0. */
uint8_t stream_ends_missing_reason(const struct order *order, const struct byte_stream *stream);
/* Notes that a line waits for the stream. */
void stream_ends_wait(struct order *order, struct byte_stream *stream);
/* Drops sent bytes that no receive will need; returns false if they must be kept. */
bool stream_ends_drop_bytes(struct order *order, struct byte_stream *stream, uint64_t begin,
                            uint64_t end);
/* Moves *begin behind dropped bytes. Returns why a receive that began there is uncertain, or 0. */
uint8_t stream_ends_skip_dropped(const struct byte_stream *stream, uint64_t *begin, uint64_t end);
/* Notes received bytes. Returns true if they must be kept. */
bool stream_ends_received(struct order *order, struct byte_stream *stream, uint64_t begin,
                          uint64_t end);
void stream_ends_free(struct stream_ends *ends);

#endif
