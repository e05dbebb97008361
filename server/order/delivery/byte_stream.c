#include "server/order/delivery/byte_stream.h"

#include "base/alloc.h"
#include "base/lower_bound.h"
#include "base/map.h"
#include "server/order/delivery/waiting_lines.h"
#include "server/order/log/line_pages.h"
#include "server/order/log/line_table.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

/* ---- the two ends of a stream between hosts ---- */

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

bool stream_ends_are_gone(const struct order *order, const struct stream_ends *e)
{
    for (size_t i = 0; i < e->writer_count; i++)
        if (!order_line_is_evicted(order, e->writers[i]) && !line_get(order, e->writers[i])->gone)
            return false;
    return e->writer_count > 0;
}

/* Returns why no sender is awaited, or 0. */
static uint8_t stream_ends_missing_reason(const struct order *order,
                                          const struct byte_stream *stream)
{
    const struct stream_ends *e = stream->ends;
    if (e->alone || (order->work.finishing && !e->writes))
        return UNTRACED_STREAM;
    return e->writes && (order->work.finishing || stream_ends_are_gone(order, e)) ? UNTRACED_THREAD
                                                                                  : UNTRACED_NONE;
}

/* Notes that a line waits for the stream. */
static void stream_ends_wait(struct order *order, struct byte_stream *stream)
{
    struct stream_ends_state *k = stream_ends_known(&order->streams);
    if (stream->ends->listed)
        return;
    stream->ends->listed = true;
    k->waited = array_reserve(k->waited, &k->waited_room, k->waited_count + 1, sizeof *k->waited);
    k->waited[k->waited_count++] = stream;
}

/* Drops sent bytes that no receive will need; returns false if they must be kept. */
static bool stream_ends_drop_bytes(struct order *order, struct byte_stream *stream, uint64_t begin,
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

/* Moves *begin behind dropped bytes. Returns why a receive that began there is uncertain, or 0. */
static uint8_t stream_ends_skip_dropped(const struct byte_stream *stream, uint64_t *begin,
                                        uint64_t end)
{
    uint64_t dropped = stream->ends->dropped;
    if (*begin >= dropped)
        return UNTRACED_NONE;
    *begin = dropped < end ? dropped : end;
    return UNTRACED_STREAM;
}

/* Notes received bytes. Returns true if they must be kept. */
static bool stream_ends_received(struct order *order, struct byte_stream *stream, uint64_t begin,
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

static void stream_ends_free(struct stream_ends *ends)
{
    if (ends)
        free(ends->writers);
    free(ends);
}

/* ---- streams ---- */

struct byte_stream *byte_stream_for_key(struct byte_stream_table *streams, uint64_t key)
{
    struct byte_stream *stream = map_get(&streams->by_key, key, 0);
    if (!stream) {
        stream = xmalloc(sizeof *stream);
        *stream = (struct byte_stream){.key = key, .next = streams->newest};
        streams->newest = stream;
        map_put(&streams->by_key, key, 0, stream);
    }
    return stream;
}

/* Returns the first range that ends after the byte. */
static size_t first_behind(const struct byte_stream *stream, uint64_t byte)
{
    return LOWER_BOUND(i, stream->first, stream->count, stream->sent[i].end <= byte);
}

/* Returns the first range that begins at or after the byte. */
static size_t first_from(const struct byte_stream *stream, uint64_t byte)
{
    return LOWER_BOUND(i, stream->first, stream->count, stream->sent[i].begin < byte);
}

static void byte_stream_save_frozen(struct order *order, struct byte_stream *stream, size_t i)
{
    if (order->saves.frozen && stream->sent[i].saved != order->saves.begun)
        save_stream_range_now(order, stream, i);
}

/* Drops received ranges from the oldest on: streams are received in order, or nearly so. */
static void drop_received(struct order *order, struct byte_stream *stream)
{
    for (; stream->first < stream->count && stream->sent[stream->first].left == 0; stream->first++)
        byte_stream_save_frozen(order, stream, stream->first);
    if (stream->first == 0 || stream->first * 2 < stream->count)
        return;
    stream->count -= stream->first;
    memmove(stream->sent, stream->sent + stream->first, stream->count * sizeof *stream->sent);
    stream->first = 0;
    save_stream_ranges_moved(order, stream);
}

/* The maximum number of unreceived ranges: more than any pipe or socket holds, so that no traced
 * thread reads them. */
#define MOST_SENT (1u << 20)

void byte_stream_add(struct order *order, uint64_t key, struct byte_stream_range sent)
{
    struct byte_stream *stream = byte_stream_for_key(&order->streams, key);
    if (stream->ends && stream_ends_drop_bytes(order, stream, sent.begin, sent.end))
        return;
    if (stream->count - stream->first >= MOST_SENT) {
        byte_stream_save_frozen(order, stream, stream->first);
        stream->sent[stream->first].left = 0;
        drop_received(order, stream);
    }
    size_t at = stream->count;
    while (at > stream->first && stream->sent[at - 1].begin > sent.begin)
        at--;
    stream->sent =
        array_reserve(stream->sent, &stream->room, stream->count + 1, sizeof *stream->sent);
    memmove(stream->sent + at + 1, stream->sent + at, (stream->count - at) * sizeof *stream->sent);
    stream->sent[at] = sent;
    stream->sent[at].saved = order->saves.begun; /* not part of the save in progress */
    stream->count++;
}

void byte_stream_match(struct order *order, const struct arrival *a)
{
    if (a->relation == RELATION_SEND && a->group_size)
        byte_stream_add(order, a->key[0],
                        (struct byte_stream_range){.begin = a->key[1],
                                                   .end = a->key[1] + a->group_size,
                                                   .left = a->group_size,
                                                   .send = a->at});
    byte_stream_wake(order, byte_stream_for_key(&order->streams, a->key[0]));
}

void byte_stream_wake(struct order *order, struct byte_stream *stream)
{
    for (size_t i = 0; i < stream->waiting_count; i++)
        line_enqueue(order, stream->waiting[i]);
    stream->waiting_count = 0;
}

void byte_stream_drop(struct order *order, struct byte_stream *stream, uint64_t end)
{
    for (size_t i = stream->first; i < stream->count && stream->sent[i].begin < end; i++) {
        byte_stream_save_frozen(order, stream, i);
        stream->sent[i].left = 0;
    }
    drop_received(order, stream);
}

/* Returns how many ranges from `at` on cover the bytes without a gap; 0 if they do not. */
static size_t byte_stream_count_covering(const struct byte_stream *stream, size_t at,
                                         uint64_t begin, uint64_t end)
{
    size_t n = 0;
    while (begin < end && at + n < stream->count && stream->sent[at + n].begin <= begin) {
        begin = stream->sent[at + n].end > begin ? stream->sent[at + n].end : begin;
        n++;
    }
    return begin >= end ? n : 0;
}

static void byte_stream_consume_bytes(struct order *order, struct byte_stream *stream,
                                      uint64_t begin, uint64_t end)
{
    for (size_t i = first_behind(stream, begin); i < stream->count && stream->sent[i].begin < end;
         i++) {
        struct byte_stream_range *s = &stream->sent[i];
        uint64_t from = s->begin > begin ? s->begin : begin, to = s->end < end ? s->end : end;
        byte_stream_save_frozen(order, stream, i);
        s->left -= to > from ? (to - from < s->left ? to - from : s->left) : 0;
    }
    drop_received(order, stream);
}

static void byte_stream_wait_at_head(struct byte_stream *stream, uint32_t line)
{
    for (size_t i = 0; i < stream->waiting_count; i++)
        if (stream->waiting[i] == line)
            return;
    stream->waiting = array_reserve(stream->waiting, &stream->waiting_room,
                                    stream->waiting_count + 1, sizeof *stream->waiting);
    stream->waiting[stream->waiting_count++] = line;
}

/* Returns how many ranges from `at` on begin before `end`, if some of the bytes are missing. */
static size_t some_of(const struct byte_stream *stream, size_t at, uint64_t end)
{
    size_t n = 0;
    while (at + n < stream->count && stream->sent[at + n].begin < end)
        n++;
    return n;
}

/* Marks an arrival as uncertain for that reason, unless it already is. */
static void byte_stream_add_uncertainty(struct arrival *a, uint8_t doubt)
{
    if (!a->doubt)
        a->doubt = doubt;
}

/* Sets the partners of a receive to the senders of these ranges. Bytes that no event sent make it
 * uncertain instead. */
static void set_partners(struct pending *receive, const struct byte_stream_range *sent, size_t n)
{
    struct arrival *a = &receive->arrival;
    struct event_id *partners = n <= 1 ? &receive->one : xmalloc(n * sizeof *partners);
    uint32_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (sent[i].send.line)
            partners[count++] = sent[i].send;
        else
            byte_stream_add_uncertainty(a, (uint8_t)sent[i].send.number);
    }
    if (count == 1 && partners != &receive->one) {
        receive->one = *partners;
        free(partners);
        partners = &receive->one;
    }
    if (!count && partners != &receive->one)
        free(partners);
    a->partners = count ? partners : NULL;
    a->partner_count = count;
}

bool byte_stream_find(struct order *order, struct pending *receive)
{
    struct arrival *a = &receive->arrival;
    struct byte_stream *stream = byte_stream_for_key(&order->streams, a->key[0]);
    uint64_t begin = a->key[1], end = begin + a->group_size;
    if (stream->ends)
        byte_stream_add_uncertainty(a, stream_ends_skip_dropped(stream, &begin, end));
    size_t at = first_behind(stream, begin), n = byte_stream_count_covering(stream, at, begin, end);
    if (!n && (begin < end || !a->group_size)) {
        uint8_t doubt = stream->ends ? stream_ends_missing_reason(order, stream) : UNTRACED_NONE;
        n = doubt || order->work.finishing ? some_of(stream, at, end) : 0;
        if (!doubt && !n) {
            byte_stream_wait_at_head(stream, a->at.line);
            if (stream->ends)
                stream_ends_wait(order, stream);
            return false;
        }
        byte_stream_add_uncertainty(a, doubt ? doubt : UNTRACED_LOST);
    }
    set_partners(receive, &stream->sent[at], n);
    return true;
}

/* Marks the range of a send as delivered: until it is received, it belongs to a save from now
 * on. */
void byte_stream_leave(struct order *order, const struct arrival *a)
{
    struct byte_stream *stream = a->relation == RELATION_SEND && a->group_size
                                     ? byte_stream_for_key(&order->streams, a->key[0])
                                     : NULL;
    size_t i = stream ? first_from(stream, a->key[1]) : 0;
    for (; stream && i < stream->count && stream->sent[i].begin == a->key[1]; i++)
        if (event_id_equal(stream->sent[i].send, a->at)) {
            byte_stream_save_frozen(order, stream, i);
            stream->sent[i].delivered = true;
        }
}

void byte_stream_received(struct order *order, const struct arrival *a)
{
    struct byte_stream *stream = byte_stream_for_key(&order->streams, a->key[0]);
    uint64_t end = a->key[1] + a->group_size;
    if (stream->ends && stream_ends_received(order, stream, a->key[1], end))
        return;
    byte_stream_consume_bytes(order, stream, a->key[1], end);
}

void byte_stream_free_all(struct byte_stream_table *streams)
{
    for (struct byte_stream *stream = streams->newest, *next; stream; stream = next) {
        next = stream->next;
        free(stream->sent);
        free(stream->waiting);
        stream_ends_free(stream->ends);
        free(stream);
    }
    map_free(&streams->by_key);
}
