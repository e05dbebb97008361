#include "wire/causal_edges.h"

#include "wire/limits.h"

#include <stdlib.h>

#define CAUSE_BYTES 24u /* minimum encoded size of an event */

void encode_causal_edges_request(struct encoder *out, const struct causal_edges_request *r)
{
    encode_u32(out, r->count);
    for (uint32_t i = 0; i < r->count; i++)
        encode_u64(out, r->positions[i]);
}

void decode_causal_edges_request(struct decoder *in, struct causal_edges_request *r)
{
    uint32_t n = decode_count(in, 8);
    *r = (struct causal_edges_request){0};
    if (n > LIMIT_STANDS)
        decoder_fail(in, "too many events requested");
    r->positions = decode_array(in, in->error ? 0 : n, sizeof *r->positions);
    for (; r->positions && !in->error && r->count < n; r->count++) {
        r->positions[r->count] = decode_u64(in);
        if (r->count && r->positions[r->count] <= r->positions[r->count - 1])
            decoder_fail(in, "events requested out of log order");
    }
}

void causal_edges_request_free(struct causal_edges_request *r)
{
    free(r->positions);
    *r = (struct causal_edges_request){0};
}

/* Returns the reasons that occur in any of the sets, as bits: the others are not encoded. */
static uint32_t reasons_of(const struct causal_edges_info *c)
{
    uint32_t reasons = 0;
    for (uint32_t i = 0; i < c->doubts_count; i++)
        for (unsigned r = 1; r < UNTRACED_COUNT; r++)
            reasons |= c->doubts[i].kinds[r] ? UNTRACED_BIT(r) : 0;
    return reasons;
}

static void encode_doubts(struct encoder *out, const struct causal_edges_info *c)
{
    uint32_t reasons = reasons_of(c);
    encode_u32(out, c->any);
    encode_u32(out, reasons);
    encode_u32(out, c->doubts_count);
    for (uint32_t i = 0; i < c->doubts_count; i++) {
        encode_u32(out, c->doubts[i].doubts);
        for (unsigned r = 1; r < UNTRACED_COUNT; r++)
            if (reasons & UNTRACED_BIT(r))
                encode_u32(out, c->doubts[i].kinds[r]);
    }
}

static void decode_doubts(struct decoder *in, struct causal_edges_info *c)
{
    c->any = decode_u32(in);
    uint32_t reasons = decode_u32(in), n = decode_count(in, 4);
    c->doubts = decode_array(in, in->error ? 0 : n, sizeof *c->doubts);
    for (; c->doubts && !in->error && c->doubts_count < n; c->doubts_count++) {
        struct uncertainty_info *d = &c->doubts[c->doubts_count];
        *d = (struct uncertainty_info){.doubts = decode_u32(in)};
        for (unsigned r = 1; r < UNTRACED_COUNT; r++)
            if (reasons & UNTRACED_BIT(r))
                d->kinds[r] = decode_u32(in);
    }
}

void encode_causal_edges(struct encoder *out, const struct causal_edges_info *c)
{
    encode_u8(out, c->whole);
    encode_u32(out, c->hiding);
    encode_u32(out, c->mechanisms);
    encode_u32(out, c->event_count);
    encode_u32(out, c->cause_count);
    for (uint32_t i = 0; i < c->event_count; i++) {
        const struct causal_edge_info *e = &c->events[i];
        encode_u32(out, e->point);
        encode_u32(out, e->chain);
        encode_u32(out, e->doubts);
        encode_u64(out, (uint64_t)e->time_ns);
        encode_u32(out, e->count);
        for (uint32_t k = 0; k < e->count; k++)
            encode_u32(out, c->causes[e->first + k]);
    }
    encode_doubts(out, c);
}

/* Decodes the causes of the i-th event and appends them. */
static void decode_those_of(struct decoder *in, struct causal_edges_info *c, uint32_t i,
                            uint32_t all)
{
    struct causal_edge_info *e = &c->events[i];
    e->first = c->cause_count;
    e->count = decode_count(in, 4);
    if (e->count > all - c->cause_count)
        decoder_fail(in, "has more causes than it says");
    for (uint32_t k = 0; !in->error && k < e->count; k++) {
        uint32_t cause = decode_u32(in);
        c->causes[c->cause_count++] = cause;
        if (cause >= i)
            decoder_fail(in, "an event comes before its cause");
    }
}

void decode_causal_edges(struct decoder *in, struct causal_edges_info *c)
{
    *c = (struct causal_edges_info){.whole = decode_u8(in)};
    c->hiding = decode_u32(in);
    c->mechanisms = decode_u32(in);
    uint32_t n = decode_u32(in), all = decode_u32(in);
    if (!in->error && (n > LIMIT_STANDS || n > decoder_remaining(in) / CAUSE_BYTES ||
                       all > decoder_remaining(in) / 4))
        decoder_fail(in, "count exceeds message size");
    c->events = decode_array(in, in->error ? 0 : n, sizeof *c->events);
    c->causes = decode_array(in, in->error ? 0 : all, sizeof *c->causes);
    for (uint32_t i = 0; c->events && c->causes && !in->error && i < n; i++) {
        c->events[i].point = decode_u32(in);
        c->events[i].chain = decode_u32(in);
        c->events[i].doubts = decode_u32(in);
        c->events[i].time_ns = (int64_t)decode_u64(in);
        if (c->events[i].point > i)
            decoder_fail(in, "a point begins after one of its events");
        decode_those_of(in, c, i, all);
        c->event_count++;
    }
    decode_doubts(in, c);
}

void causal_edges_info_free(struct causal_edges_info *c)
{
    free(c->events);
    free(c->causes);
    free(c->doubts);
    *c = (struct causal_edges_info){0};
}
