/* Streams between hosts: whose ends are told, and who waits for one that is not. */
#ifndef SERVER_ORDER_INTAKE_ENDS_H
#define SERVER_ORDER_INTAKE_ENDS_H

#include "server/order/order.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stream;

struct ends {
    bool reads, writes; /* told */
    bool alone; /* the other one was waited for in vain */
    bool listed; /* some line waits, and it is in the list of such streams */
    struct stream_place other; /* where the one is that is not told; the first that told was its peer */
    uint64_t since_ns; /* 0: not looked at yet */
    uint64_t dropped; /* bytes before it were dropped unread while it was alone; */
    uint64_t received; /*   and before that one they were received */
    uint32_t *writers; /* lines of those who tell that they write */
    size_t writer_count, writer_room;
    uint32_t saved; /* as of a meeting */
};

/* What is sent there is not kept; a stretch of those bytes. */
bool ends_pass_over(struct order *order, struct stream *stream, uint64_t begin, uint64_t end);
/* Who receives from *begin on begins behind what was dropped: why it is doubtful then, else 0. */
uint8_t ends_begin_behind(const struct stream *stream, uint64_t *begin, uint64_t end);
uint8_t ends_let_go(const struct order *order, const struct stream *stream); /* likewise; 0: it waits */
void ends_wait(struct order *order, struct stream *stream); /* a line does */
bool ends_received(struct order *order, struct stream *stream, uint64_t begin,
                   uint64_t end); /* true: they stay */
void ends_gone(struct order *order); /* lines are */

/* Those that were saved. */
void ends_touch(struct order *order, struct stream *stream); /* before it changes */
void ends_restore(struct order *order, uint64_t key, const struct ends *ends); /* takes its writers */
void ends_place_restore(struct order *order, struct stream_place place, bool alone);
/* Calls visit for each address that is somebody's, and each place that was waited for in vain. */
void ends_places(const struct order *order,
                 void (*visit)(void *context, struct stream_place place, bool alone), void *context);

void ends_free(struct ends *ends);
struct ends_known;
void ends_known_free(struct ends_known *known);

#endif
