/* Streams between hosts: whose ends are told, and who waits for one that is not.
 *
 * What is told of the two ends comes in any order, and of one that no program of the run has it never comes.  So who
 * receives waits for it for a while.  Then the stream is alone, and the place where its other end is (an address, if no
 * program of the run ever told that it is his, else the port there) is one that nobody waits for, until somebody tells that
 * he is there. */
#include "server/order/intake/hosts.h"

#include "memory/map.h"
#include "memory/memory.h"
#include "server/order/intake/ends.h"
#include "server/order/intake/stream.h"
#include "server/order/state.h"
#include "wire/event.h"

#include <stdlib.h>
#include <string.h>

struct known_place {
    struct stream_place place; /* port 0: the address */
    bool ours; /* somebody told that it is his */
    bool alone; /* it was waited for in vain */
};

/* ---- places ---- */

static uint64_t half_of(struct stream_place p)
{
    return p.high ^ (uint64_t)p.port * 0x9e3779b97f4a7c15u;
}

static struct known_place *find_place(const struct order *order, struct stream_place p)
{
    return order->ends ? map_get(&order->ends->places, half_of(p), p.low) : NULL;
}

static struct known_place *place_of(struct order *order, struct stream_place p)
{
    struct known_place *place = find_place(order, p);
    if (!place) {
        place = memory_zeroed(1, sizeof *place);
        place->place = p;
        map_put(&ends_known(order)->places, half_of(p), p.low, place);
    }
    return place;
}

static struct stream_place address_of(struct stream_place p)
{
    return (struct stream_place){p.high, p.low, 0};
}

static bool is_alone(const struct order *order, struct stream_place p)
{
    const struct known_place *address = find_place(order, address_of(p)),
                             *place = find_place(order, p);
    return (address && address->alone) || (place && place->alone);
}

/* Somebody is there. */
static void come(struct order *order, struct stream_place p)
{
    struct known_place *address = place_of(order, address_of(p)), *place = find_place(order, p);
    address->ours = true;
    address->alone = false;
    if (place && place != address)
        place->alone = false;
}

/* Nobody is there. */
static void give_up_place(struct order *order, struct stream_place p)
{
    const struct known_place *address = find_place(order, address_of(p));
    place_of(order, address && address->ours ? p : address_of(p))->alone = true;
}

/* ---- a stream ---- */

static struct ends *ends_of(struct order *order, struct stream *stream)
{
    if (!stream->ends) {
        stream->ends = memory_zeroed(1, sizeof *stream->ends);
        stream->ends->saved = order->saves; /* it is not in the save under way */
        ends_known(order)->streams++;
    }
    return stream->ends;
}

bool order_stream_known(const struct order *order, uint64_t key, size_t *of_order)
{
    const struct stream *stream = map_get(&order->streams, key, 0);
    *of_order = order->ends ? order->ends->streams : 0;
    return stream && stream->ends;
}

static bool is_late(const struct ends *e) { return !e->alone && e->reads != e->writes; }

static void list_late(struct order *order, struct stream *stream)
{
    struct ends_known *k = ends_known(order);
    if (k->first > k->count / 2) { /* those before are done with */
        k->count -= k->first;
        k->stamped -= k->first;
        memmove(k->late, k->late + k->first, k->count * sizeof *k->late);
        k->first = 0;
    }
    k->late = grow(k->late, &k->room, k->count + 1, sizeof *k->late);
    k->late[k->count++] = stream;
}

/* What nobody will read is not kept. */
static void let_be(struct order *order, struct stream *stream)
{
    struct ends *e = stream->ends;
    ends_touch(order, stream);
    e->alone = true;
    for (size_t i = stream->first; !e->reads && i < stream->count; i++) {
        const struct stretch *s = &stream->sent[i];
        if (s->begin < STREAM_CLOSINGS && s->end > e->dropped)
            e->dropped = s->end < STREAM_CLOSINGS ? s->end : STREAM_CLOSINGS;
    }
    if (!e->reads)
        stream_drop(order, stream, STREAM_CLOSINGS);
    stream_wake(order, stream);
}

/* ---- who writes ---- */

#define WRITERS_MOST 64u

static size_t writer_at(const struct ends *e, uint32_t line)
{
    size_t i = 0;
    while (i < e->writer_count && e->writers[i] != line)
        i++;
    return i;
}

static void add_writer(struct ends *e, uint32_t line)
{
    if (!line || e->writer_count == WRITERS_MOST || writer_at(e, line) < e->writer_count)
        return;
    e->writers = grow(e->writers, &e->writer_room, e->writer_count + 1, sizeof *e->writers);
    e->writers[e->writer_count++] = line;
}

static void drop_writer(struct ends *e, uint32_t line)
{
    size_t i = writer_at(e, line);
    if (i < e->writer_count)
        e->writers[i] = e->writers[--e->writer_count];
}

void hosts_gone(struct order *order)
{
    struct ends_known *k = order->ends;
    size_t kept = 0;
    for (size_t i = 0; k && i < k->waited_count; i++) {
        struct stream *stream = k->waited[i];
        if (stream->waiting_count && ends_are_gone(order, stream->ends))
            stream_wake(order, stream);
        if (stream->waiting_count)
            k->waited[kept++] = stream;
        else
            stream->ends->listed = false;
    }
    if (k)
        k->waited_count = kept;
}

/* ---- what is told ---- */

void order_stream_end(struct order *order, const struct stream_told *told)
{
    struct stream *stream = stream_of(order, told->stream);
    struct ends *e = ends_of(order, stream);
    ends_touch(order, stream);
    if (told->end == END_LEAVES) {
        drop_writer(e, told->line);
        return;
    }
    bool first = !e->reads && !e->writes;
    if (told->end == END_WRITES) {
        e->writes = true;
        add_writer(e, told->line);
    } else {
        e->reads = true;
    }
    come(order, told->here);
    if (e->reads && e->writes) {
        e->alone = false;
        return;
    }
    e->other = told->there;
    if (first && is_alone(order, told->there))
        let_be(order, stream);
    else if (first)
        list_late(order, stream);
}

void order_stream_hole(struct order *order, uint64_t key, uint64_t first, uint64_t end,
                       uint8_t doubt)
{
    struct stream *stream = stream_of(order, key);
    ends_of(order, stream);
    if (first >= end)
        return;
    stream_add(order, key,
               (struct stretch){.begin = first,
                                .end = end,
                                .left = end - first,
                                .send = {0, doubt},
                                .delivered = true});
    stream_wake(order, stream);
}

bool order_stream_late(struct order *order, uint64_t now_ns, uint64_t patience_ns, uint64_t *stream)
{
    struct ends_known *k = order->ends;
    for (; k && k->stamped < k->count; k->stamped++)
        k->late[k->stamped]->ends->since_ns = now_ns;
    while (k && k->first < k->count) {
        const struct stream *oldest = k->late[k->first];
        if (is_late(oldest->ends) && now_ns - oldest->ends->since_ns < patience_ns)
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
    struct stream *stream = map_get(&order->streams, key, 0);
    if (!stream || !stream->ends || !is_late(stream->ends))
        return; /* it was told meanwhile */
    struct stream_place other = stream->ends->other;
    give_up_place(order, other);
    let_be(order, stream);
    struct ends_known *k = ends_known(order);
    for (size_t i = k->first; i < k->count; i++) {
        const struct ends *e = k->late[i]->ends;
        if (is_late(e) && same_address(e->other, other) && is_alone(order, e->other))
            let_be(order, k->late[i]);
    }
}

/* ---- saved ---- */

void hosts_restore(struct order *order, uint64_t key, const struct ends *ends)
{
    struct stream *stream = stream_of(order, key);
    if (stream->ends)
        free(stream->ends->writers);
    *ends_of(order, stream) = *ends;
    stream->ends->saved = order->saves;
    if (is_late(stream->ends))
        list_late(order, stream);
}

void hosts_place_restore(struct order *order, struct stream_place p, bool alone)
{
    struct known_place *place = place_of(order, p);
    place->alone |= alone;
    place->ours |= !alone;
}

void hosts_places(const struct order *order,
                  void (*visit)(void *context, struct stream_place place, bool alone),
                  void *context)
{
    if (!order->ends)
        return;
    for (struct map_walk walk = {.map = &order->ends->places}; map_next(&walk);) {
        const struct known_place *place = walk.value;
        if (place->ours)
            visit(context, place->place, false);
        if (place->alone)
            visit(context, place->place, true);
    }
}

void hosts_free(struct ends_known *known)
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
