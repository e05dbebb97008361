/* The two ends of a stream between hosts. */
#ifndef SERVER_ORDER_INTAKE_ENDS_H
#define SERVER_ORDER_INTAKE_ENDS_H

#include "memory/map.h"
#include "server/order/order.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream;

struct ends {
    bool reads, writes; /* told */
    bool alone; /* the other one was waited for in vain */
    bool listed; /* some line waits, and it is in the list of such streams */
    struct stream_place
        other; /* where the one is that is not told; the first that told was its peer */
    uint64_t since_ns; /* 0: not looked at yet */
    uint64_t dropped; /* bytes before it were dropped unread while it was alone; */
    uint64_t received; /*   and before that one they were received */
    uint32_t *writers; /* lines of those who tell that they write */
    size_t writer_count, writer_room;
    uint32_t saved; /* as of a meeting */
};

struct ends_known {
    struct map places; /* of hosts.c alone */
    size_t streams;
    struct stream **
        late; /* of which one end is told, oldest first, from `first` on; some are not late any more */
    size_t first, stamped, count, room; /* stamped: those before it know since when */
    struct stream **waited; /* in which lines wait */
    size_t waited_count, waited_room;
};

struct ends_known *ends_known(struct order *order); /* made if it is not there */
void ends_touch(struct order *order, struct stream *stream); /* before it changes */
/* All who told that they write, and there were some. */
bool ends_are_gone(const struct order *order, const struct ends *ends);
uint8_t ends_let_go(const struct order *order,
                    const struct stream *stream); /* why nobody is waited for, else 0 */
void ends_wait(struct order *order, struct stream *stream); /* a line does */
/* What is sent there is not kept; a stretch of those bytes. */
bool ends_pass_over(struct order *order, struct stream *stream, uint64_t begin, uint64_t end);
/* Who receives from *begin on begins behind what was dropped: why it is doubtful then, else 0. */
uint8_t ends_begin_behind(const struct stream *stream, uint64_t *begin, uint64_t end);
bool ends_received(struct order *order, struct stream *stream, uint64_t begin,
                   uint64_t end); /* true: they stay */
void ends_free(struct ends *ends);

#endif
