/* What is saved beside the lines: receives that came late, what was sent and not received, and troubles. */
#include "server/order/saved.h"

#include <string.h>

static void save_late(struct bytes *out, const struct order *order)
{
    put(out, order->receives.count);
    for (size_t i = 0; i < order->receives.room; i++) {
        const struct receive_list *late = order->receives.entries[i].value;
        if (!late)
            continue;
        put(out, order->receives.entries[i].a);
        put(out, late->count);
        for (size_t k = 0; k < late->count; k++)
            put(out, late->receives[k] - order->receives.entries[i].a);
    }
}

static void load_late(struct reading *in, struct order *order)
{
    for (size_t n = get_count(in); n && !in->bad; n--) {
        uint64_t send = get(in);
        for (size_t k = get_count(in); k && !in->bad; k--) {
            uint64_t distance = get(in);
            if (send >= order->count || distance == 0 || distance >= order->count - send)
                in->bad = true;
            else
                receives_add(order, send, send + distance);
        }
    }
}

/* Of those who meet by a key, the delivered ones; the others come again. */
static void save_meetings(struct bytes *out, const struct order *order)
{
    for (size_t i = 0; i < order->meetings.room; i++) {
        const struct meeting *meeting = order->meetings.entries[i].value;
        size_t delivered = 0;
        for (size_t k = 0; meeting && !meeting->done && k < meeting->count; k++)
            delivered += !pending_is(order, meeting->members[k]);
        if (!delivered)
            continue;
        put(out, delivered);
        put(out, order->meetings.entries[i].a);
        put(out, order->meetings.entries[i].b);
        put(out, meeting->receives);
        put(out, meeting->expected);
        for (size_t k = 0; k < meeting->count; k++)
            if (!pending_is(order, meeting->members[k]))
                put_event_ref(out, meeting->members[k]);
    }
    put(out, 0);
}

static void load_meetings(struct reading *in, struct order *order)
{
    for (size_t n; (n = get_count(in)) != 0 && !in->bad;) {
        uint64_t a = get(in), b = get(in), receives = get(in), expected = get(in);
        for (; n && !in->bad; n--) {
            struct meeting *meeting = meeting_add(order, a, b, get_event_ref(in));
            meeting->receives = (uint32_t)receives;
            meeting->expected = (uint32_t)expected;
        }
    }
}

/* What was sent and not received; pending sends come again. */
static void save_streams(struct bytes *out, const struct order *order)
{
    for (size_t i = 0; i < order->streams.room; i++) {
        const struct stream *stream = order->streams.entries[i].value;
        for (size_t k = stream ? stream->first : 0; stream && k < stream->count; k++) {
            const struct stretch *s = &stream->sent[k];
            if (pending_is(order, s->send))
                continue;
            put(out, 1);
            put(out, order->streams.entries[i].a);
            put(out, s->begin);
            put(out, s->end - s->begin);
            put(out, s->left);
            put_event_ref(out, s->send);
        }
    }
    put(out, 0);
}

static void load_streams(struct reading *in, struct order *order)
{
    while (!in->bad && get(in) != 0) {
        uint64_t key = get(in), begin = get(in), bytes = get(in), left = get(in);
        struct ref send = get_event_ref(in);
        if (!in->bad)
            stream_add(order, key, (struct stretch){begin, begin + bytes, left, send});
    }
}

static void save_troubles(struct bytes *out, const struct order *order)
{
    put(out, order->trouble_count);
    for (size_t i = 0; i < order->trouble_count; i++) {
        put_event_ref(out, order->troubles[i].at);
        put_event_ref(out, order->troubles[i].with);
        put_block(out, order->troubles[i].why, strlen(order->troubles[i].why));
    }
}

static void load_troubles(struct reading *in, struct order *order)
{
    for (size_t n = get_count(in); n && !in->bad; n--) {
        struct trouble trouble = {.at = get_event_ref(in), .with = get_event_ref(in)};
        size_t size;
        const uint8_t *why = get_block(in, &size);
        trouble.why = reason_of(order, (const char *)why, size);
        order->troubles = grow(order->troubles, &order->trouble_room, order->trouble_count + 1,
                               sizeof *order->troubles);
        order->troubles[order->trouble_count++] = trouble;
    }
}

void save_rest(struct bytes *out, const struct order *order)
{
    save_late(out, order);
    save_meetings(out, order);
    save_streams(out, order);
    save_troubles(out, order);
}

void load_rest(struct reading *in, struct order *order)
{
    if (!in->bad)
        load_late(in, order);
    if (!in->bad)
        load_meetings(in, order);
    load_streams(in, order);
    if (!in->bad)
        load_troubles(in, order);
}
