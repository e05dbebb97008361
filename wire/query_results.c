#include "wire/query_results.h"

#include "wire/event_types.h"
#include "wire/fields.h"
#include "wire/limits.h"
#include "wire/text.h"

#include <stdlib.h>

/* ---- fields ---- */

/* clang-format off */
#define HOLDER_FIELDS(F, o) \
    F(u32, o, thread) F(event_id, o, since) F(u32, o, process) F(u64, o, site) \
    F(hold_kind, o, how)
#define WAIT_END_FIELDS(F, o) \
    F(event_id, o, signal) F(u32, o, sender) F(fate, o, fate) F(flag, o, at_exit) \
    F(flag, o, end) F(flag, o, loader) F(i64, o, since_ns) F(u32, o, outsider) \
    F(u64, o, outsider_name) F(u64, o, outsider_rest)
#define SLEEPER_FIELDS(F, o) \
    F(u32, o, thread) F(i64, o, since_ns) F(u8, o, call) F(u64, o, word) F(u64, o, site) \
    F(u64, o, library) F(fate, o, fate)
#define CYCLE_STEP_FIELDS(F, o) \
    F(u32, o, thread) F(u32, o, about) F(event_id, o, at) F(event_id, o, since) \
    F(hold_kind, o, how) F(flag, o, only) F(i64, o, time_ns)
#define DIAGNOSIS_FIELDS(F, o) \
    F(u32, o, about) F(fate, o, fate) F(u32, o, doubts) F(event_id, o, wait) \
    F(event_id, o, waker) F(u32, o, waker_type) F(u32, o, process) F(u64, o, site) \
    F(u8, o, waker_relation) F(u8, o, went_on) F(u32, o, woken) F(flag, o, woken_left) \
    F(flag, o, woken_elsewhere) F(u32, o, arrived) F(u32, o, participants) \
    F(flag, o, pool) F(flag, o, polls)
#define WAKER_FIELDS(F, o) F(u32, o, thread) F(waker_state, o, state) F(event_id, o, last)
#define NOW_FIELDS(F, o) F(i64, o, last_ns) F(i64, o, now_ns) F(flag, o, live)
#define RELATION_COUNT_FIELDS(F, o) \
    F(event_id, o, at) F(u8, o, known) F(u64, o, before) F(u64, o, after) F(u64, o, concurrent) \
    F(u64, o, same) F(u64, o, unknown) F(flag, o, whole)
#define BETWEEN_FIELDS(F, o) \
    F(event_id, o, from) F(event_id, o, to) F(flag, o, known) F(flag, o, whole) F(i64, o, ns) \
    F(u64, o, events)
#define BETWEEN_KIND_FIELDS(F, o) F(u32, o, type) F(u64, o, events)
#define SEARCH_HIT_FIELDS(F, o) F(event_id, o, at) F(u64, o, position)
/* clang-format on */

static void encode_fate(struct encoder *out, enum wait_outcome fate)
{
    encode_u8(out, (uint8_t)fate);
}

static enum wait_outcome decode_fate(struct decoder *in)
{
    uint8_t fate = decode_u8(in);
    if (fate >= OUTCOME_COUNT)
        decoder_fail(in, "invalid diagnosis");
    return fate < OUTCOME_COUNT ? (enum wait_outcome)fate : OUTCOME_OPEN;
}

static void encode_hold_kind(struct encoder *out, uint8_t how) { encode_u8(out, how); }
static uint8_t decode_hold_kind(struct decoder *in)
{
    uint8_t how = decode_u8(in);
    if (how >= HOLD_KINDS)
        decoder_fail(in, "invalid kind of a holder");
    return how < HOLD_KINDS ? how : HOLD_LOCK;
}

enum { FIELD_BYTES_hold_kind = 1 };

void encode_wait(struct encoder *out, const struct wait_info *wait)
{
    encode_u32(out, wait->thread);
    encode_u32(out, wait->about);
    encode_event_info(out, &wait->event);
    ENCODE_LIST(wait->holders, wait->holder_count, HOLDER_FIELDS);
    WAIT_END_FIELDS(FIELD_ENCODE, wait)
}

void decode_wait(struct decoder *in, struct wait_info *wait)
{
    *wait = (struct wait_info){.thread = decode_u32(in)};
    wait->about = decode_u32(in);
    decode_event_info(in, &wait->event);
    DECODE_LIST(wait->holders, wait->holder_count, HOLDER_FIELDS);
    WAIT_END_FIELDS(FIELD_DECODE, wait)
}

void wait_info_free(struct wait_info *wait)
{
    event_info_free(&wait->event);
    free(wait->holders);
    *wait = (struct wait_info){0};
}

void encode_sleeper(struct encoder *out, const struct sleeper_info *sleeper)
{
    SLEEPER_FIELDS(FIELD_ENCODE, sleeper)
    const struct holder_info *holder = &sleeper->holder;
    HOLDER_FIELDS(FIELD_ENCODE, holder)
    encode_event_info(out, &sleeper->event);
}

void decode_sleeper(struct decoder *in, struct sleeper_info *sleeper)
{
    *sleeper = (struct sleeper_info){0};
    SLEEPER_FIELDS(FIELD_DECODE, sleeper)
    struct holder_info *holder = &sleeper->holder;
    HOLDER_FIELDS(FIELD_DECODE, holder)
    decode_event_info(in, &sleeper->event);
}

void sleeper_info_free(struct sleeper_info *sleeper)
{
    event_info_free(&sleeper->event);
    *sleeper = (struct sleeper_info){0};
}

void encode_cycle(struct encoder *out, const struct cycle_info *cycle)
{
    ENCODE_LIST(cycle->steps, cycle->count, CYCLE_STEP_FIELDS);
    encode_u32(out, cycle->doubts);
}

void decode_cycle(struct decoder *in, struct cycle_info *cycle)
{
    *cycle = (struct cycle_info){0};
    DECODE_LIST(cycle->steps, cycle->count, CYCLE_STEP_FIELDS);
    cycle->doubts = decode_u32(in);
}

static void encode_waker_state(struct encoder *out, uint8_t state) { encode_u8(out, state); }
static uint8_t decode_waker_state(struct decoder *in)
{
    uint8_t state = decode_u8(in);
    if (state >= WAKER_COUNT)
        decoder_fail(in, "invalid thread state");
    return state;
}

enum { FIELD_BYTES_waker_state = 1 };

void encode_diagnosis(struct encoder *out, const struct diagnosis_info *v)
{
    DIAGNOSIS_FIELDS(FIELD_ENCODE, v)
    ENCODE_LIST(v->able, v->able_count, WAKER_FIELDS);
    encode_numbers(out, v->runs, v->run_count);
}

void decode_diagnosis(struct decoder *in, struct diagnosis_info *v)
{
    *v = (struct diagnosis_info){0};
    DIAGNOSIS_FIELDS(FIELD_DECODE, v)
    if (v->waker_relation > RELATION_CODE(ORDER_UNKNOWN))
        decoder_fail(in, "invalid causal relation");
    DECODE_LIST(v->able, v->able_count, WAKER_FIELDS);
    v->runs = decode_numbers(in, &v->run_count);
}

void diagnosis_info_free(struct diagnosis_info *v)
{
    free(v->able);
    free(v->runs);
    *v = (struct diagnosis_info){0};
}

void encode_now(struct encoder *out, const struct trace_time_info *now)
{
    NOW_FIELDS(FIELD_ENCODE, now)
}

void decode_now(struct decoder *in, struct trace_time_info *now) { NOW_FIELDS(FIELD_DECODE, now) }

void encode_relation_counts(struct encoder *out, const struct relation_counts *c)
{
    RELATION_COUNT_FIELDS(FIELD_ENCODE, c)
}

void decode_relation_counts(struct decoder *in, struct relation_counts *c)
{
    RELATION_COUNT_FIELDS(FIELD_DECODE, c)
}

void encode_between(struct encoder *out, const struct between_info *span)
{
    BETWEEN_FIELDS(FIELD_ENCODE, span)
    ENCODE_LIST(span->kinds, span->kind_count, BETWEEN_KIND_FIELDS);
}

void decode_between(struct decoder *in, struct between_info *span)
{
    *span = (struct between_info){0};
    BETWEEN_FIELDS(FIELD_DECODE, span)
    DECODE_LIST(span->kinds, span->kind_count, BETWEEN_KIND_FIELDS);
}

void between_info_free(struct between_info *span)
{
    free(span->kinds);
    *span = (struct between_info){0};
}

void encode_search_result(struct encoder *out, const struct search_result *f)
{
    encode_u8(out, f->done);
    encode_u64(out, f->looked);
    encode_u64(out, f->count);
    encode_string(out, f->problem);
    ENCODE_LIST(f->hits, f->hit_count, SEARCH_HIT_FIELDS);
}

void decode_search_result(struct decoder *in, struct search_result *f)
{
    *f = (struct search_result){.done = decode_u8(in)};
    f->looked = decode_u64(in);
    f->count = decode_u64(in);
    f->problem = decode_name(in, LIMIT_TEXT_BYTES * 4);
    DECODE_LIST(f->hits, f->hit_count, SEARCH_HIT_FIELDS);
}

void search_result_free(struct search_result *f)
{
    free(f->problem);
    free(f->hits);
    *f = (struct search_result){0};
}

/* ---- the happened-before order among selected events ---- */

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
static uint32_t causal_edges_reasons(const struct causal_edges_info *c)
{
    uint32_t reasons = 0;
    for (uint32_t i = 0; i < c->doubts_count; i++)
        for (unsigned r = 1; r < UNTRACED_COUNT; r++)
            reasons |= c->doubts[i].kinds[r] ? UNTRACED_BIT(r) : 0;
    return reasons;
}

static void encode_causal_doubts(struct encoder *out, const struct causal_edges_info *c)
{
    uint32_t reasons = causal_edges_reasons(c);
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

static void decode_causal_doubts(struct decoder *in, struct causal_edges_info *c)
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
    encode_causal_doubts(out, c);
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
    decode_causal_doubts(in, c);
}

void causal_edges_info_free(struct causal_edges_info *c)
{
    free(c->events);
    free(c->causes);
    free(c->doubts);
    *c = (struct causal_edges_info){0};
}
