#include "server/order/delivery/host_streams.h"

#include "base/alloc.h"
#include "base/map.h"
#include "server/order/delivery/byte_stream.h"
#include "server/order/log/line_pages.h"
#include "server/order/log/line_table.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

/* ---- places ---- */

struct host_stream_place {
    struct stream_place place; /* port 0: the address */
    bool ours; /* a program reported it as its own */
    bool alone; /* its report was awaited in vain */
};

static uint64_t half_of(struct stream_place p)
{
    return p.high ^ (uint64_t)p.port * 0x9e3779b97f4a7c15u;
}

static struct host_stream_place *find_place(const struct byte_stream_table *streams,
                                            struct stream_place p)
{
    return streams->ends ? map_get(&streams->ends->places, half_of(p), p.low) : NULL;
}

static struct host_stream_place *place_of(struct byte_stream_table *streams, struct stream_place p)
{
    struct host_stream_place *place = find_place(streams, p);
    if (!place) {
        place = xcalloc(1, sizeof *place);
        place->place = p;
        map_put(&stream_ends_known(streams)->places, half_of(p), p.low, place);
    }
    return place;
}

static struct stream_place host_streams_address_of(struct stream_place p)
{
    return (struct stream_place){p.high, p.low, 0};
}

static bool is_alone(const struct byte_stream_table *streams, struct stream_place p)
{
    const struct host_stream_place *address = find_place(streams, host_streams_address_of(p)),
                                   *place = find_place(streams, p);
    return (address && address->alone) || (place && place->alone);
}

/* Notes that a program has reported this place. */
static void host_streams_note_arrival(struct byte_stream_table *streams, struct stream_place p)
{
    struct host_stream_place *address = place_of(streams, host_streams_address_of(p)),
                             *place = find_place(streams, p);
    address->ours = true;
    address->alone = false;
    if (place && place != address)
        place->alone = false;
}

/* Notes that no program has reported this place. */
static void host_streams_drop_place(struct byte_stream_table *streams, struct stream_place p)
{
    const struct host_stream_place *address = find_place(streams, host_streams_address_of(p));
    place_of(streams, address && address->ours ? p : host_streams_address_of(p))->alone = true;
}

/* ---- streams ---- */

static struct stream_ends *ends_of(struct order *order, struct byte_stream *stream)
{
    if (!stream->ends) {
        stream->ends = xcalloc(1, sizeof *stream->ends);
        stream->ends->saved = order->saves.begun; /* not part of the save in progress */
        stream_ends_known(&order->streams)->streams++;
    }
    return stream->ends;
}

bool order_stream_known(const struct order *order, uint64_t key, size_t *of_order)
{
    const struct byte_stream *stream = map_get(&order->streams.by_key, key, 0);
    *of_order = order->streams.ends ? order->streams.ends->streams : 0;
    return stream && stream->ends;
}

static bool is_late(const struct stream_ends *e) { return !e->alone && e->reads != e->writes; }

static void list_late(struct byte_stream_table *streams, struct byte_stream *stream)
{
    struct stream_ends_state *k = stream_ends_known(streams);
    if (k->first > k->count / 2) { /* remove those that are done */
        k->count -= k->first;
        k->stamped -= k->first;
        memmove(k->late, k->late + k->first, k->count * sizeof *k->late);
        k->first = 0;
    }
    k->late = array_reserve(k->late, &k->room, k->count + 1, sizeof *k->late);
    k->late[k->count++] = stream;
}

/* Stops waiting for the stream's other end. If no program of the run reads the stream, drops its
 * bytes, which no receive will need. */
static void host_streams_stop_waiting(struct order *order, struct byte_stream *stream)
{
    struct stream_ends *e = stream->ends;
    stream_ends_touch(order, stream);
    e->alone = true;
    for (size_t i = stream->first; !e->reads && i < stream->count; i++) {
        const struct byte_stream_range *s = &stream->sent[i];
        if (s->begin < STREAM_CLOSINGS && s->end > e->dropped)
            e->dropped = s->end < STREAM_CLOSINGS ? s->end : STREAM_CLOSINGS;
    }
    if (!e->reads)
        byte_stream_drop(order, stream, STREAM_CLOSINGS);
    byte_stream_wake(order, stream);
}

/* ---- writers ---- */

#define WRITERS_MOST 64u

static size_t writer_at(const struct stream_ends *e, uint32_t line)
{
    size_t i = 0;
    while (i < e->writer_count && e->writers[i] != line)
        i++;
    return i;
}

static void add_writer(struct stream_ends *e, uint32_t line)
{
    if (!line || e->writer_count == WRITERS_MOST || writer_at(e, line) < e->writer_count)
        return;
    e->writers =
        array_reserve(e->writers, &e->writer_room, e->writer_count + 1, sizeof *e->writers);
    e->writers[e->writer_count++] = line;
}

static void drop_writer(struct stream_ends *e, uint32_t line)
{
    size_t i = writer_at(e, line);
    if (i < e->writer_count)
        e->writers[i] = e->writers[--e->writer_count];
}

void host_streams_gone(struct order *order)
{
    struct stream_ends_state *k = order->streams.ends;
    size_t kept = 0;
    for (size_t i = 0; k && i < k->waited_count; i++) {
        struct byte_stream *stream = k->waited[i];
        if (stream->waiting_count && stream_ends_are_gone(order, stream->ends))
            byte_stream_wake(order, stream);
        if (stream->waiting_count)
            k->waited[kept++] = stream;
        else
            stream->ends->listed = false;
    }
    if (k)
        k->waited_count = kept;
}

/* ---- reports ---- */

void order_stream_end(struct order *order, const struct stream_report *report)
{
    struct byte_stream *stream = byte_stream_for_key(&order->streams, report->stream);
    struct stream_ends *e = ends_of(order, stream);
    stream_ends_touch(order, stream);
    if (report->end == END_LEAVES) {
        drop_writer(e, report->line);
        return;
    }
    bool first = !e->reads && !e->writes;
    if (report->end == END_WRITES) {
        e->writes = true;
        add_writer(e, report->line);
    } else {
        e->reads = true;
    }
    host_streams_note_arrival(&order->streams, report->here);
    if (e->reads && e->writes) {
        e->alone = false;
        return;
    }
    e->other = report->there;
    if (first && is_alone(&order->streams, report->there))
        host_streams_stop_waiting(order, stream);
    else if (first)
        list_late(&order->streams, stream);
}

void order_stream_gap(struct order *order, uint64_t key, uint64_t first, uint64_t end,
                      uint8_t doubt)
{
    struct byte_stream *stream = byte_stream_for_key(&order->streams, key);
    ends_of(order, stream);
    if (first >= end)
        return;
    byte_stream_add(order, key,
                    (struct byte_stream_range){.begin = first,
                                               .end = end,
                                               .left = end - first,
                                               .send = {0, doubt},
                                               .delivered = true});
    byte_stream_wake(order, stream);
}

bool order_stream_late(struct order *order, uint64_t now_ns, uint64_t timeout_ns, uint64_t *stream)
{
    struct stream_ends_state *k = order->streams.ends;
    for (; k && k->stamped < k->count; k->stamped++)
        k->late[k->stamped]->ends->since_ns = now_ns;
    while (k && k->first < k->count) {
        const struct byte_stream *oldest = k->late[k->first];
        if (is_late(oldest->ends) && now_ns - oldest->ends->since_ns < timeout_ns)
            return false;
        k->first++;
        *stream = oldest->key;
        if (is_late(oldest->ends))
            return true;
    }
    return false;
}

static bool same_address(struct stream_place a, struct stream_place b)
{
    return a.high == b.high && a.low == b.low;
}

void order_stream_alone(struct order *order, uint64_t key)
{
    struct byte_stream *stream = map_get(&order->streams.by_key, key, 0);
    if (!stream || !stream->ends || !is_late(stream->ends))
        return; /* it was reported meanwhile */
    struct stream_place other = stream->ends->other;
    host_streams_drop_place(&order->streams, other);
    host_streams_stop_waiting(order, stream);
    struct stream_ends_state *k = stream_ends_known(&order->streams);
    for (size_t i = k->first; i < k->count; i++) {
        const struct stream_ends *e = k->late[i]->ends;
        if (is_late(e) && same_address(e->other, other) && is_alone(&order->streams, e->other))
            host_streams_stop_waiting(order, k->late[i]);
    }
}

/* ---- saving and restoring ---- */

void host_streams_restore(struct order *order, uint64_t key, const struct stream_ends *ends)
{
    struct byte_stream *stream = byte_stream_for_key(&order->streams, key);
    if (stream->ends)
        free(stream->ends->writers);
    *ends_of(order, stream) = *ends;
    stream->ends->saved = order->saves.begun;
    if (is_late(stream->ends))
        list_late(&order->streams, stream);
}

void host_streams_place_restore(struct order *order, struct stream_place p, bool alone)
{
    struct host_stream_place *place = place_of(&order->streams, p);
    place->alone |= alone;
    place->ours |= !alone;
}

void host_streams_places(const struct order *order,
                         void (*visit)(void *context, struct stream_place place, bool alone),
                         void *context)
{
    if (!order->streams.ends)
        return;
    for (struct map_walk walk = {.map = &order->streams.ends->places}; map_next(&walk);) {
        const struct host_stream_place *place = walk.value;
        if (place->ours)
            visit(context, place->place, false);
        if (place->alone)
            visit(context, place->place, true);
    }
}

void host_streams_free(struct stream_ends_state *known)
{
    if (!known)
        return;
    for (struct map_walk walk = {.map = &known->places}; map_next(&walk);)
        free(walk.value);
    map_free(&known->places);
    free(known->late);
    free(known->waited);
    free(known);
}
