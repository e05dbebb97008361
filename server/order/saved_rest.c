/* Saves the rest of an order beside its lines: late receives, unreceived sends, and
 * inconsistencies.
 *
 * It is saved in steps, but as of the moment when the save began. Late receives and inconsistencies
 * are only appended: those that existed at that moment are saved. Rendezvous and byte ranges
 * change: one that is about to change is saved first, and those that were saved, or did not exist
 * yet, have the number of the save. The order of the items in the output does not matter. */
#include "base/alloc.h"
#include "server/order/delivery/byte_stream.h"
#include "server/order/delivery/host_streams.h"
#include "server/order/delivery/pending_events.h"
#include "server/order/delivery/rendezvous_match.h"
#include "server/order/log/late_receives.h"
#include "server/order/log/line_pages.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "server/order/saved_format.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

enum { REST_LATE = 1, REST_MEETING, REST_STRETCH, REST_TROUBLE, REST_ENDS, REST_PLACE };

#define REST_LOOKS 256u /* items examined in one step */

static void put_late(struct save_bytes *out, const struct late_receive *late)
{
    save_put_number(out, REST_LATE);
    save_put_number(out, late->send);
    save_put_number(out, late->receive - late->send);
}

static void get_late(struct save_reader *in, struct order *order, uint64_t send)
{
    uint64_t distance = save_get_number(in);
    if (send >= order->log.count || distance == 0 || distance >= order->log.count - send)
        in->bad = true;
    else
        late_receives_add(&order->late, send, send + distance);
}

/* Saves the delivered members of a rendezvous; the pending ones are inserted again after
 * loading. */
static void save_encode_rendezvous(struct save_bytes *out, const struct order *order,
                                   const struct rendezvous *meeting)
{
    size_t delivered = 0;
    for (size_t k = 0; !meeting->done && k < meeting->count; k++)
        delivered += !pending_is(order, meeting->members[k]);
    if (!delivered)
        return;
    save_put_number(out, REST_MEETING);
    save_put_number(out, delivered);
    save_put_number(out, meeting->a);
    save_put_number(out, meeting->b);
    save_put_number(out, meeting->receives);
    save_put_number(out, meeting->expected);
    for (size_t k = 0; k < meeting->count; k++)
        if (!pending_is(order, meeting->members[k]))
            save_put_event_ref(out, meeting->members[k]);
}

static void save_decode_rendezvous(struct save_reader *in, struct order *order, size_t n)
{
    uint64_t a = save_get_number(in), b = save_get_number(in), receives = save_get_number(in),
             expected = save_get_number(in);
    for (; n && !in->bad; n--) {
        struct rendezvous *meeting = rendezvous_add(order, a, b, save_get_event_ref(in));
        meeting->receives = (uint32_t)receives;
        meeting->expected = (uint32_t)expected;
    }
}

/* Saves a range of bytes that were sent and not all received; pending sends are inserted again
 * after loading. */
static void put_stretch(struct save_bytes *out, const struct byte_stream *stream,
                        const struct byte_stream_range *s)
{
    if (!s->delivered)
        return;
    save_put_number(out, REST_STRETCH);
    save_put_number(out, stream->key);
    save_put_number(out, s->begin);
    save_put_number(out, s->end - s->begin);
    save_put_number(out, s->left);
    save_put_event_ref(out, s->send);
}

static void get_stretch(struct save_reader *in, struct order *order)
{
    uint64_t key = save_get_number(in), begin = save_get_number(in), bytes = save_get_number(in),
             left = save_get_number(in);
    struct event_id send = save_get_event_ref(in);
    if (!in->bad)
        byte_stream_add(order, key,
                        (struct byte_stream_range){.begin = begin,
                                                   .end = begin + bytes,
                                                   .left = left,
                                                   .send = send,
                                                   .delivered = true});
}

static void save_encode_inconsistency(struct save_bytes *out, const struct inconsistency *trouble)
{
    save_put_number(out, REST_TROUBLE);
    save_put_event_ref(out, trouble->at);
    save_put_event_ref(out, trouble->with);
    save_put_block(out, trouble->why, strlen(trouble->why));
}

static void save_decode_inconsistency(struct save_reader *in, struct order *order)
{
    struct inconsistency trouble = {.at = save_get_event_ref(in), .with = save_get_event_ref(in)};
    size_t size;
    const uint8_t *why = save_get_block(in, &size);
    trouble.why = order_intern_reason(&order->reasons, (const char *)why, size);
    order_add_inconsistency(&order->inconsistencies, trouble);
}

/* ---- streams between hosts ---- */

enum { ENDS_READS = 1, ENDS_WRITES = 2, ENDS_ALONE = 4 };

static void save_put_place(struct save_bytes *out, struct stream_place place)
{
    save_put_number(out, place.high);
    save_put_number(out, place.low);
    save_put_number(out, place.port);
}

static struct stream_place save_get_place(struct save_reader *in)
{
    uint64_t high = save_get_number(in), low = save_get_number(in);
    return (struct stream_place){high, low, (uint16_t)save_get_number(in)};
}

void save_stream_ends_now(struct order *order, struct byte_stream *stream)
{
    struct save_bytes *out = &order->saves.frozen->rest.bytes;
    struct stream_ends *e = stream->ends;
    save_put_number(out, REST_ENDS);
    save_put_number(out, stream->key);
    save_put_number(out, (e->reads ? ENDS_READS : 0u) | (e->writes ? ENDS_WRITES : 0u) |
                             (e->alone ? ENDS_ALONE : 0u));
    save_put_place(out, e->other);
    save_put_number(out, e->dropped);
    save_put_number(out, e->received);
    save_put_number(out, e->writer_count);
    for (size_t i = 0; i < e->writer_count; i++)
        save_put_number(out, e->writers[i]);
    e->saved = order->saves.begun;
}

static void get_ends(struct save_reader *in, struct order *order)
{
    uint64_t key = save_get_number(in), flags = save_get_number(in);
    struct stream_ends e = {
        .reads = flags & ENDS_READS, .writes = flags & ENDS_WRITES, .alone = flags & ENDS_ALONE};
    e.other = save_get_place(in);
    e.dropped = save_get_number(in);
    e.received = save_get_number(in);
    e.writer_count = save_get_count(in);
    e.writers = array_reserve(NULL, &e.writer_room, e.writer_count + 1, sizeof *e.writers);
    for (size_t i = 0; i < e.writer_count && !in->bad; i++) {
        e.writers[i] = (uint32_t)save_get_number(in);
        in->bad |= e.writers[i] == 0 || e.writers[i] > order->lines.visible.count;
    }
    if (in->bad)
        free(e.writers);
    else
        host_streams_restore(order, key, &e);
}

static void put_known_place(void *context, struct stream_place place, bool alone)
{
    struct save_bytes *out = context;
    save_put_number(out, REST_PLACE);
    save_put_place(out, place);
    save_put_number(out, alone);
}

static void get_known_place(struct save_reader *in, struct order *order)
{
    struct stream_place place = save_get_place(in);
    bool alone = save_get_number(in) != 0;
    if (!in->bad)
        host_streams_place_restore(order, place, alone);
}

/* ---- saving in steps ---- */

void save_rest_freeze(struct order *order)
{
    order->saves.begun++;
    order->saves.frozen->rest =
        (struct save_rest_state){.late_end = order->late.count,
                                 .trouble_end = order->inconsistencies.count,
                                 .meeting = order->rendezvous.newest,
                                 .stream = order->streams.newest};
    host_streams_places(order, put_known_place, &order->saves.frozen->rest.bytes);
}

void save_rest_thaw(struct order *order)
{
    free(order->saves.frozen->rest.bytes.data);
    free(order->saves.frozen->rest.places);
}

void save_rendezvous_now(struct order *order, struct rendezvous *meeting)
{
    save_encode_rendezvous(&order->saves.frozen->rest.bytes, order, meeting);
    meeting->saved = order->saves.begun;
}

void save_rendezvous_gone(struct order *order, struct rendezvous *meeting)
{
    rendezvous_touch(order, meeting);
    if (order->saves.frozen && order->saves.frozen->rest.meeting == meeting)
        order->saves.frozen->rest.meeting = meeting->next;
}

/* Saves ranges that begin at the same byte together, up to the i-th, so that they keep their
 * order. */
void save_stream_range_now(struct order *order, struct byte_stream *stream, size_t i)
{
    size_t from = i;
    while (from > stream->first && stream->sent[from - 1].begin == stream->sent[i].begin)
        from--;
    for (; from <= i; from++)
        if (stream->sent[from].saved != order->saves.begun) {
            put_stretch(&order->saves.frozen->rest.bytes, stream, &stream->sent[from]);
            stream->sent[from].saved = order->saves.begun;
        }
}

/* Restarts a stream after its ranges moved: those before it are examined again, but are saved
 * already. */
void save_stream_ranges_moved(struct order *order, const struct byte_stream *stream)
{
    if (order->saves.frozen && order->saves.frozen->rest.stream == stream)
        order->saves.frozen->rest.stretch = 0;
}

static void next_stretch(struct order *order, struct save_rest_state *rest)
{
    struct byte_stream *stream = rest->stream;
    if (rest->stretch < stream->first)
        rest->stretch = stream->first;
    if (rest->stretch < stream->count) {
        size_t i = rest->stretch++;
        if (stream->sent[i].saved != order->saves.begun)
            save_stream_range_now(order, stream, i);
        return;
    }
    if (stream->ends)
        stream_ends_touch(order, stream);
    rest->stream = stream->next;
    rest->stretch = 0;
}

/* Writes one item; returns false if nothing is left. */
static bool write_one(struct order *order, struct save_rest_state *rest)
{
    if (rest->meeting) {
        rendezvous_touch(order, rest->meeting);
        rest->meeting = rest->meeting->next;
    } else if (rest->stream) {
        next_stretch(order, rest);
    } else if (rest->late < rest->late_end) {
        put_late(&rest->bytes, &order->late.items[rest->late++]);
    } else if (rest->trouble < rest->trouble_end) {
        save_encode_inconsistency(&rest->bytes, &order->inconsistencies.items[rest->trouble++]);
    } else {
        return false;
    }
    return true;
}

static void save_store_block(struct order *order, struct save_rest_state *rest)
{
    rest->places =
        array_reserve(rest->places, &rest->place_room, rest->place_count + 1, sizeof *rest->places);
    rest->places[rest->place_count++] =
        order->shelf.put(order->shelf.context, rest->bytes.data, rest->bytes.size);
    order->saves.bytes += rest->bytes.size;
    rest->bytes.size = 0;
}

bool save_rest_write_next(struct order *order)
{
    struct save_rest_state *rest = &order->saves.frozen->rest;
    bool more = true;
    for (unsigned looks = 0; more && looks < REST_LOOKS && rest->bytes.size < REST_BYTES; looks++)
        more = write_one(order, rest);
    if (rest->bytes.size >= REST_BYTES)
        save_store_block(order, rest);
    return !more;
}

void save_rest(struct save_bytes *out, const struct order *order)
{
    const struct save_rest_state *rest = &order->saves.frozen->rest;
    uint64_t before = 0;
    save_put_number(out, rest->place_count);
    for (size_t i = 0; i < rest->place_count; i++) {
        save_put_number(out, rest->places[i] - before);
        before = rest->places[i];
    }
    save_put_block(out, rest->bytes.data, rest->bytes.size);
}

/* ---- loading ---- */

static void load_items(struct save_reader *in, struct order *order)
{
    while (!in->bad && in->at < in->size)
        switch (save_get_number(in)) {
        case REST_LATE:
            get_late(in, order, save_get_number(in));
            break;
        case REST_MEETING:
            save_decode_rendezvous(in, order, save_get_count(in));
            break;
        case REST_STRETCH:
            get_stretch(in, order);
            break;
        case REST_TROUBLE:
            save_decode_inconsistency(in, order);
            break;
        case REST_ENDS:
            get_ends(in, order);
            break;
        case REST_PLACE:
            get_known_place(in, order);
            break;
        default:
            in->bad = true;
        }
}

void load_rest(struct save_reader *in, struct order *order)
{
    uint64_t place = 0;
    for (size_t n = save_get_count(in); n && !in->bad; n--) {
        struct save_reader items = {0};
        uint8_t *bytes =
            order->shelf.get(order->shelf.context, place += save_get_number(in), &items.size);
        items.data = bytes;
        items.bad = !bytes;
        load_items(&items, order);
        in->bad |= items.bad;
        free(bytes);
    }
    struct save_reader items = {0};
    items.data = save_get_block(in, &items.size);
    items.bad = in->bad;
    load_items(&items, order);
    in->bad |= items.bad;
}
