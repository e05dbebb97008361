#include "wire/causes.h"

#include "wire/limits.h"

#include <stdlib.h>

#define CAUSE_BYTES 24u /* of one event, at least */

void put_causes_request(struct out *out, const struct causes_request *r)
{
    put_u32(out, r->count);
    for (uint32_t i = 0; i < r->count; i++)
        put_u64(out, r->positions[i]);
}

void get_causes_request(struct in *in, struct causes_request *r)
{
    uint32_t n = get_count(in, 8);
    *r = (struct causes_request){0};
    if (n > LIMIT_STANDS)
        in_fail(in, "asks about too many events");
    r->positions = get_room(in, in->error ? 0 : n, sizeof *r->positions);
    for (; r->positions && !in->error && r->count < n; r->count++) {
        r->positions[r->count] = get_u64(in);
        if (r->count && r->positions[r->count] <= r->positions[r->count - 1])
            in_fail(in, "asks about events that are not in the order of the log");
    }
}

void causes_request_free(struct causes_request *r)
{
    free(r->positions);
    *r = (struct causes_request){0};
}

/* Reasons that no set has are left out. */
static uint32_t reasons_of(const struct shown_causes *c)
{
    uint32_t reasons = 0;
    for (uint32_t i = 0; i < c->doubts_count; i++)
        for (unsigned r = 1; r < UNSEEN_COUNT; r++)
            reasons |= c->doubts[i].kinds[r] ? UNSEEN_BIT(r) : 0;
    return reasons;
}

static void put_doubts(struct out *out, const struct shown_causes *c)
{
    uint32_t reasons = reasons_of(c);
    put_u32(out, c->any);
    put_u32(out, reasons);
    put_u32(out, c->doubts_count);
    for (uint32_t i = 0; i < c->doubts_count; i++) {
        put_u32(out, c->doubts[i].doubts);
        for (unsigned r = 1; r < UNSEEN_COUNT; r++)
            if (reasons & UNSEEN_BIT(r))
                put_u32(out, c->doubts[i].kinds[r]);
    }
}

static void get_doubts(struct in *in, struct shown_causes *c)
{
    c->any = get_u32(in);
    uint32_t reasons = get_u32(in), n = get_count(in, 4);
    c->doubts = get_room(in, in->error ? 0 : n, sizeof *c->doubts);
    for (; c->doubts && !in->error && c->doubts_count < n; c->doubts_count++) {
        struct shown_doubts *d = &c->doubts[c->doubts_count];
        *d = (struct shown_doubts){.doubts = get_u32(in)};
        for (unsigned r = 1; r < UNSEEN_COUNT; r++)
            if (reasons & UNSEEN_BIT(r))
                d->kinds[r] = get_u32(in);
    }
}

void put_causes(struct out *out, const struct shown_causes *c)
{
    put_u8(out, c->whole);
    put_u32(out, c->hiding);
    put_u32(out, c->mechanisms);
    put_u32(out, c->event_count);
    put_u32(out, c->cause_count);
    for (uint32_t i = 0; i < c->event_count; i++) {
        const struct shown_cause *e = &c->events[i];
        put_u32(out, e->point);
        put_u32(out, e->chain);
        put_u32(out, e->doubts);
        put_u64(out, (uint64_t)e->time_ns);
        put_u32(out, e->count);
        for (uint32_t k = 0; k < e->count; k++)
            put_u32(out, c->causes[e->first + k]);
    }
    put_doubts(out, c);
}

/* Appends the causes of the i-th event. */
static void get_those_of(struct in *in, struct shown_causes *c, uint32_t i, uint32_t all)
{
    struct shown_cause *e = &c->events[i];
    e->first = c->cause_count;
    e->count = get_count(in, 4);
    if (e->count > all - c->cause_count)
        in_fail(in, "has more causes than it says");
    for (uint32_t k = 0; !in->error && k < e->count; k++) {
        uint32_t cause = get_u32(in);
        c->causes[c->cause_count++] = cause;
        if (cause >= i)
            in_fail(in, "an event comes before its cause");
    }
}

void get_causes(struct in *in, struct shown_causes *c)
{
    *c = (struct shown_causes){.whole = get_u8(in)};
    c->hiding = get_u32(in);
    c->mechanisms = get_u32(in);
    uint32_t n = get_u32(in), all = get_u32(in);
    if (!in->error && (n > LIMIT_STANDS || n > in_left(in) / CAUSE_BYTES || all > in_left(in) / 4))
        in_fail(in, "a count is larger than what follows");
    c->events = get_room(in, in->error ? 0 : n, sizeof *c->events);
    c->causes = get_room(in, in->error ? 0 : all, sizeof *c->causes);
    for (uint32_t i = 0; c->events && c->causes && !in->error && i < n; i++) {
        c->events[i].point = get_u32(in);
        c->events[i].chain = get_u32(in);
        c->events[i].doubts = get_u32(in);
        c->events[i].time_ns = (int64_t)get_u64(in);
        if (c->events[i].point > i)
            in_fail(in, "a point begins after one of its events");
        get_those_of(in, c, i, all);
        c->event_count++;
    }
    get_doubts(in, c);
}

void shown_causes_free(struct shown_causes *c)
{
    free(c->events);
    free(c->causes);
    free(c->doubts);
    *c = (struct shown_causes){0};
}
