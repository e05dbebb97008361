/* What is saved beside the lines: receives that came late, what was sent and not received, and troubles.
 *
 * It is saved in steps, and as it was when the save began.  Late receives and troubles only come, one behind the
 * other: those are saved that were there.  Meetings and stretches change, too: one that is about to is saved first,
 * and whatever was saved, or was not there yet, has the number of the save.  The order in which they lie in what is
 * written makes no difference. */
#include "memory/memory.h"
#include "server/order/intake/ends.h"
#include "server/order/intake/hosts.h"
#include "server/order/intake/meet.h"
#include "server/order/intake/pending.h"
#include "server/order/intake/stream.h"
#include "server/order/log/pages.h"
#include "server/order/log/receives.h"
#include "server/order/order.h"
#include "server/order/saved.h"
#include "server/order/state.h"
#include "wire/event.h"

#include <stdlib.h>
#include <string.h>

enum { REST_LATE = 1, REST_MEETING, REST_STRETCH, REST_TROUBLE, REST_ENDS, REST_PLACE };

#define REST_LOOKS 256u /* things that are looked at in one step */

static void put_late(struct bytes *out, const struct late_receive *late)
{
    put(out, REST_LATE);
    put(out, late->send);
    put(out, late->receive - late->send);
}

static void get_late(struct reading *in, struct order *order, uint64_t send)
{
    uint64_t distance = get(in);
    if (send >= order->count || distance == 0 || distance >= order->count - send)
        in->bad = true;
    else
        receives_add(order, send, send + distance);
}

/* Of those who meet by a key, the delivered ones; the others come again. */
static void put_meeting(struct bytes *out, const struct order *order, const struct meeting *meeting)
{
    size_t delivered = 0;
    for (size_t k = 0; !meeting->done && k < meeting->count; k++)
        delivered += !pending_is(order, meeting->members[k]);
    if (!delivered)
        return;
    put(out, REST_MEETING);
    put(out, delivered);
    put(out, meeting->a);
    put(out, meeting->b);
    put(out, meeting->receives);
    put(out, meeting->expected);
    for (size_t k = 0; k < meeting->count; k++)
        if (!pending_is(order, meeting->members[k]))
            put_event_ref(out, meeting->members[k]);
}

static void get_meeting(struct reading *in, struct order *order, size_t n)
{
    uint64_t a = get(in), b = get(in), receives = get(in), expected = get(in);
    for (; n && !in->bad; n--) {
        struct meeting *meeting = meeting_add(order, a, b, get_event_ref(in));
        meeting->receives = (uint32_t)receives;
        meeting->expected = (uint32_t)expected;
    }
}

/* What was sent and not received; pending sends come again. */
static void put_stretch(struct bytes *out, const struct stream *stream, const struct stretch *s)
{
    if (!s->delivered)
        return;
    put(out, REST_STRETCH);
    put(out, stream->key);
    put(out, s->begin);
    put(out, s->end - s->begin);
    put(out, s->left);
    put_event_ref(out, s->send);
}

static void get_stretch(struct reading *in, struct order *order)
{
    uint64_t key = get(in), begin = get(in), bytes = get(in), left = get(in);
    struct ref send = get_event_ref(in);
    if (!in->bad)
        stream_add(order, key,
                   (struct stretch){.begin = begin,
                                    .end = begin + bytes,
                                    .left = left,
                                    .send = send,
                                    .delivered = true});
}

static void put_trouble(struct bytes *out, const struct trouble *trouble)
{
    put(out, REST_TROUBLE);
    put_event_ref(out, trouble->at);
    put_event_ref(out, trouble->with);
    put_block(out, trouble->why, strlen(trouble->why));
}

static void get_trouble(struct reading *in, struct order *order)
{
    struct trouble trouble = {.at = get_event_ref(in), .with = get_event_ref(in)};
    size_t size;
    const uint8_t *why = get_block(in, &size);
    trouble.why = reason_of(order, (const char *)why, size);
    order->troubles = grow(order->troubles, &order->trouble_room, order->trouble_count + 1,
                           sizeof *order->troubles);
    order->troubles[order->trouble_count++] = trouble;
}

/* ---- streams between hosts ---- */

enum { ENDS_READS = 1, ENDS_WRITES = 2, ENDS_ALONE = 4 };

static void put_place(struct bytes *out, struct stream_place place)
{
    put(out, place.high);
    put(out, place.low);
    put(out, place.port);
}

static struct stream_place get_place(struct reading *in)
{
    uint64_t high = get(in), low = get(in);
    return (struct stream_place){high, low, (uint16_t)get(in)};
}

void save_ends_now(struct order *order, struct stream *stream)
{
    struct bytes *out = &order->frozen->rest.bytes;
    struct ends *e = stream->ends;
    put(out, REST_ENDS);
    put(out, stream->key);
    put(out, (e->reads ? ENDS_READS : 0u) | (e->writes ? ENDS_WRITES : 0u) |
                 (e->alone ? ENDS_ALONE : 0u));
    put_place(out, e->other);
    put(out, e->dropped);
    put(out, e->received);
    put(out, e->writer_count);
    for (size_t i = 0; i < e->writer_count; i++)
        put(out, e->writers[i]);
    e->saved = order->saves;
}

static void get_ends(struct reading *in, struct order *order)
{
    uint64_t key = get(in), flags = get(in);
    struct ends e = {
        .reads = flags & ENDS_READS, .writes = flags & ENDS_WRITES, .alone = flags & ENDS_ALONE};
    e.other = get_place(in);
    e.dropped = get(in);
    e.received = get(in);
    e.writer_count = get_count(in);
    e.writers = grow(NULL, &e.writer_room, e.writer_count + 1, sizeof *e.writers);
    for (size_t i = 0; i < e.writer_count && !in->bad; i++) {
        e.writers[i] = (uint32_t)get(in);
        in->bad |= e.writers[i] == 0 || e.writers[i] > order->line_count;
    }
    if (in->bad)
        free(e.writers);
    else
        hosts_restore(order, key, &e);
}

static void put_known_place(void *context, struct stream_place place, bool alone)
{
    struct bytes *out = context;
    put(out, REST_PLACE);
    put_place(out, place);
    put(out, alone);
}

static void get_known_place(struct reading *in, struct order *order)
{
    struct stream_place place = get_place(in);
    bool alone = get(in) != 0;
    if (!in->bad)
        hosts_place_restore(order, place, alone);
}

/* ---- in steps ---- */

void rest_freeze(struct order *order)
{
    order->saves++;
    order->frozen->rest = (struct rest){.late_end = order->late_count,
                                        .trouble_end = order->trouble_count,
                                        .meeting = order->newest_meeting,
                                        .stream = order->newest_stream};
    hosts_places(order, put_known_place, &order->frozen->rest.bytes);
}

void rest_thaw(struct order *order)
{
    free(order->frozen->rest.bytes.data);
    free(order->frozen->rest.places);
}

void save_meeting_now(struct order *order, struct meeting *meeting)
{
    put_meeting(&order->frozen->rest.bytes, order, meeting);
    meeting->saved = order->saves;
}

void save_meeting_gone(struct order *order, struct meeting *meeting)
{
    meeting_touch(order, meeting);
    if (order->frozen && order->frozen->rest.meeting == meeting)
        order->frozen->rest.meeting = meeting->next;
}

/* Those that begin at one byte stay as they lie. */
void save_stretch_now(struct order *order, struct stream *stream, size_t i)
{
    size_t from = i;
    while (from > stream->first && stream->sent[from - 1].begin == stream->sent[i].begin)
        from--;
    for (; from <= i; from++)
        if (stream->sent[from].saved != order->saves) {
            put_stretch(&order->frozen->rest.bytes, stream, &stream->sent[from]);
            stream->sent[from].saved = order->saves;
        }
}

/* Those before it are met again, and are saved already. */
void save_stretches_moved(struct order *order, const struct stream *stream)
{
    if (order->frozen && order->frozen->rest.stream == stream)
        order->frozen->rest.stretch = 0;
}

static void next_stretch(struct order *order, struct rest *rest)
{
    struct stream *stream = rest->stream;
    if (rest->stretch < stream->first)
        rest->stretch = stream->first;
    if (rest->stretch < stream->count) {
        size_t i = rest->stretch++;
        if (stream->sent[i].saved != order->saves)
            save_stretch_now(order, stream, i);
        return;
    }
    if (stream->ends)
        ends_touch(order, stream);
    rest->stream = stream->next;
    rest->stretch = 0;
}

/* False: nothing is left. */
static bool write_one(struct order *order, struct rest *rest)
{
    if (rest->meeting) {
        meeting_touch(order, rest->meeting);
        rest->meeting = rest->meeting->next;
    } else if (rest->stream) {
        next_stretch(order, rest);
    } else if (rest->late < rest->late_end) {
        put_late(&rest->bytes, &order->late[rest->late++]);
    } else if (rest->trouble < rest->trouble_end) {
        put_trouble(&rest->bytes, &order->troubles[rest->trouble++]);
    } else {
        return false;
    }
    return true;
}

static void put_on_shelf(struct order *order, struct rest *rest)
{
    rest->places =
        grow(rest->places, &rest->place_room, rest->place_count + 1, sizeof *rest->places);
    rest->places[rest->place_count++] =
        order->shelf.put(order->shelf.context, rest->bytes.data, rest->bytes.size);
    order->saved_bytes += rest->bytes.size;
    rest->bytes.size = 0;
}

bool rest_write_next(struct order *order)
{
    struct rest *rest = &order->frozen->rest;
    bool more = true;
    for (unsigned looks = 0; more && looks < REST_LOOKS && rest->bytes.size < REST_BYTES; looks++)
        more = write_one(order, rest);
    if (rest->bytes.size >= REST_BYTES)
        put_on_shelf(order, rest);
    return !more;
}

void save_rest(struct bytes *out, const struct order *order)
{
    const struct rest *rest = &order->frozen->rest;
    uint64_t before = 0;
    put(out, rest->place_count);
    for (size_t i = 0; i < rest->place_count; i++) {
        put(out, rest->places[i] - before);
        before = rest->places[i];
    }
    put_block(out, rest->bytes.data, rest->bytes.size);
}

/* ---- back ---- */

static void load_items(struct reading *in, struct order *order)
{
    while (!in->bad && in->at < in->size)
        switch (get(in)) {
        case REST_LATE:
            get_late(in, order, get(in));
            break;
        case REST_MEETING:
            get_meeting(in, order, get_count(in));
            break;
        case REST_STRETCH:
            get_stretch(in, order);
            break;
        case REST_TROUBLE:
            get_trouble(in, order);
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

void load_rest(struct reading *in, struct order *order)
{
    uint64_t place = 0;
    for (size_t n = get_count(in); n && !in->bad; n--) {
        struct reading items = {0};
        uint8_t *bytes = order->shelf.get(order->shelf.context, place += get(in), &items.size);
        items.data = bytes;
        items.bad = !bytes;
        load_items(&items, order);
        in->bad |= items.bad;
        free(bytes);
    }
    struct reading items = {0};
    items.data = get_block(in, &items.size);
    items.bad = in->bad;
    load_items(&items, order);
    in->bad |= items.bad;
}

/* Older ones have it kind by kind. */
void load_old_rest(struct reading *in, struct order *order)
{
    for (size_t n = in->bad ? 0 : get_count(in); n && !in->bad; n--) {
        uint64_t send = get(in);
        for (size_t k = get_count(in); k && !in->bad; k--)
            get_late(in, order, send);
    }
    for (size_t n; !in->bad && (n = get_count(in)) != 0;)
        get_meeting(in, order, n);
    while (!in->bad && get(in) != 0)
        get_stretch(in, order);
    for (size_t n = in->bad ? 0 : get_count(in); n && !in->bad; n--)
        get_trouble(in, order);
}
