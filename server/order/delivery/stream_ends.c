/* The two ends of a stream between hosts: which of its bytes will arrive, and which ends it is
 * useless to wait for. */
#include "server/order/delivery/stream_ends.h"

#include "base/alloc.h"
#include "server/order/delivery/byte_stream_match.h"
#include "server/order/log/line_table.h"
#include "server/order/log/line_pages.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>

struct stream_ends_state *stream_ends_known(struct byte_stream_table *streams)
{
    if (!streams->ends)
        streams->ends = xcalloc(1, sizeof *streams->ends);
    return streams->ends;
}

void stream_ends_touch(struct order *order, struct byte_stream *stream)
{
    if (order->saves.frozen && stream->ends->saved != order->saves.begun)
        save_stream_ends_now(order, stream);
}

/* Returns whether there were writers, and all of them have ended. */
bool stream_ends_are_gone(const struct order *order, const struct stream_ends *e)
{
    for (size_t i = 0; i < e->writer_count; i++)
        if (!order_line_is_evicted(order, e->writers[i]) && !line_get(order, e->writers[i])->gone)
            return false;
    return e->writer_count > 0;
}

uint8_t stream_ends_missing_reason(const struct order *order, const struct byte_stream *stream)
{
    const struct stream_ends *e = stream->ends;
    if (e->alone || (order->work.finishing && !e->writes))
        return UNTRACED_STREAM;
    return e->writes && (order->work.finishing || stream_ends_are_gone(order, e)) ? UNTRACED_THREAD
                                                                                  : UNTRACED_NONE;
}

void stream_ends_wait(struct order *order, struct byte_stream *stream)
{
    struct stream_ends_state *k = stream_ends_known(&order->streams);
    if (stream->ends->listed)
        return;
    stream->ends->listed = true;
    k->waited = array_reserve(k->waited, &k->waited_room, k->waited_count + 1, sizeof *k->waited);
    k->waited[k->waited_count++] = stream;
}

/* ---- bytes ---- */

bool stream_ends_drop_bytes(struct order *order, struct byte_stream *stream, uint64_t begin,
                            uint64_t end)
{
    struct stream_ends *e = stream->ends;
    if (begin >= STREAM_CLOSINGS)
        return false;
    if (e->alone && !e->reads) {
        stream_ends_touch(order, stream);
        end = end < STREAM_CLOSINGS ? end : STREAM_CLOSINGS;
        e->dropped = end > e->dropped ? end : e->dropped;
        return true;
    }
    return end <= e->received;
}

uint8_t stream_ends_skip_dropped(const struct byte_stream *stream, uint64_t *begin, uint64_t end)
{
    uint64_t dropped = stream->ends->dropped;
    if (*begin >= dropped)
        return UNTRACED_NONE;
    *begin = dropped < end ? dropped : end;
    return UNTRACED_STREAM;
}

bool stream_ends_received(struct order *order, struct byte_stream *stream, uint64_t begin,
                          uint64_t end)
{
    struct stream_ends *e = stream->ends;
    if (begin >= STREAM_CLOSINGS)
        return true; /* the end of the stream can be read repeatedly */
    if (e->alone && end > e->received) {
        stream_ends_touch(order, stream);
        e->received = end;
    }
    return false;
}

void stream_ends_free(struct stream_ends *ends)
{
    if (ends)
        free(ends->writers);
    free(ends);
}
