/* The two ends of a stream between hosts: what of its bytes there will be, and whom it is no use to wait for. */
#include "server/order/intake/ends.h"

#include "memory/memory.h"
#include "server/order/intake/stream.h"
#include "server/order/log/lines.h"
#include "server/order/log/pages.h"
#include "server/order/state.h"
#include "wire/event.h"

#include <stdlib.h>

struct ends_known *ends_known(struct order *order)
{
    if (!order->ends)
        order->ends = memory_zeroed(1, sizeof *order->ends);
    return order->ends;
}

void ends_touch(struct order *order, struct stream *stream)
{
    if (order->frozen && stream->ends->saved != order->saves)
        save_ends_now(order, stream);
}

/* All who told that they write, and there were some. */
bool ends_are_gone(const struct order *order, const struct ends *e)
{
    for (size_t i = 0; i < e->writer_count; i++)
        if (!order_line_away(order, e->writers[i]) && !line_get(order, e->writers[i])->gone)
            return false;
    return e->writer_count > 0;
}

uint8_t ends_let_go(const struct order *order, const struct stream *stream)
{
    const struct ends *e = stream->ends;
    if (e->alone || (order->finishing && !e->writes))
        return UNSEEN_STREAM;
    return e->writes && (order->finishing || ends_are_gone(order, e)) ? UNSEEN_THREAD : UNSEEN_NONE;
}

void ends_wait(struct order *order, struct stream *stream)
{
    struct ends_known *k = ends_known(order);
    if (stream->ends->listed)
        return;
    stream->ends->listed = true;
    k->waited = grow(k->waited, &k->waited_room, k->waited_count + 1, sizeof *k->waited);
    k->waited[k->waited_count++] = stream;
}

/* ---- bytes ---- */

bool ends_pass_over(struct order *order, struct stream *stream, uint64_t begin, uint64_t end)
{
    struct ends *e = stream->ends;
    if (begin >= STREAM_CLOSINGS)
        return false;
    if (e->alone && !e->reads) {
        ends_touch(order, stream);
        end = end < STREAM_CLOSINGS ? end : STREAM_CLOSINGS;
        e->dropped = end > e->dropped ? end : e->dropped;
        return true;
    }
    return end <= e->received;
}

uint8_t ends_begin_behind(const struct stream *stream, uint64_t *begin, uint64_t end)
{
    uint64_t dropped = stream->ends->dropped;
    if (*begin >= dropped)
        return UNSEEN_NONE;
    *begin = dropped < end ? dropped : end;
    return UNSEEN_STREAM;
}

bool ends_received(struct order *order, struct stream *stream, uint64_t begin, uint64_t end)
{
    struct ends *e = stream->ends;
    if (begin >= STREAM_CLOSINGS)
        return true; /* the end may be found again */
    if (e->alone && end > e->received) {
        ends_touch(order, stream);
        e->received = end;
    }
    return false;
}

void ends_free(struct ends *ends)
{
    if (ends)
        free(ends->writers);
    free(ends);
}
