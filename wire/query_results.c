#include "wire/query_results.h"

#include "wire/limits.h"
#include "wire/event_id.h"
#include "wire/text.h"

#include <stdlib.h>

/* Encoded sizes: a count of more items than fit the rest of the message is rejected. */
enum {
    HOLDER_BYTES = 4 + EVENT_ID_BYTES + 12 + 1,
    STEP_BYTES = 4 + 4 + 2 * EVENT_ID_BYTES + 2 + 8,
    ABLE_BYTES = 4 + 1 + EVENT_ID_BYTES,
    KIND_BYTES = 4 + 8,
    HIT_BYTES = EVENT_ID_BYTES + 8
};

void encode_wait(struct encoder *out, const struct wait_info *wait)
{
    encode_u32(out, wait->thread);
    encode_u32(out, wait->about);
    encode_event_info(out, &wait->event);
    encode_u32(out, wait->holder_count);
    for (uint32_t i = 0; i < wait->holder_count; i++) {
        encode_u32(out, wait->holders[i].thread);
        encode_event_id(out, wait->holders[i].since);
        encode_u32(out, wait->holders[i].process);
        encode_u64(out, wait->holders[i].site);
        encode_u8(out, wait->holders[i].how);
    }
    encode_event_id(out, wait->signal);
    encode_u32(out, wait->sender);
    encode_u8(out, (uint8_t)wait->fate);
    encode_u8(out, wait->at_exit);
    encode_u8(out, wait->end);
    encode_u64(out, (uint64_t)wait->since_ns);
}

static enum wait_outcome decode_fate(struct decoder *in)
{
    uint8_t fate = decode_u8(in);
    if (fate >= OUTCOME_COUNT)
        decoder_fail(in, "invalid diagnosis");
    return fate < OUTCOME_COUNT ? (enum wait_outcome)fate : OUTCOME_OPEN;
}

static uint8_t decode_hold_kind(struct decoder *in)
{
    uint8_t how = decode_u8(in);
    if (how >= HOLD_KINDS)
        decoder_fail(in, "invalid kind of a holder");
    return how < HOLD_KINDS ? how : HOLD_LOCK;
}

void decode_wait(struct decoder *in, struct wait_info *wait)
{
    *wait = (struct wait_info){.thread = decode_u32(in)};
    wait->about = decode_u32(in);
    decode_event_info(in, &wait->event);
    uint32_t n = decode_count(in, HOLDER_BYTES);
    wait->holders = decode_array(in, n, sizeof *wait->holders);
    for (; wait->holders && wait->holder_count < n; wait->holder_count++) {
        wait->holders[wait->holder_count].thread = decode_u32(in);
        wait->holders[wait->holder_count].since = decode_event_id(in);
        wait->holders[wait->holder_count].process = decode_u32(in);
        wait->holders[wait->holder_count].site = decode_u64(in);
        wait->holders[wait->holder_count].how = decode_hold_kind(in);
    }
    wait->signal = decode_event_id(in);
    wait->sender = decode_u32(in);
    wait->fate = decode_fate(in);
    wait->at_exit = decode_u8(in) != 0;
    wait->end = decode_u8(in) != 0;
    wait->since_ns = (int64_t)decode_u64(in);
}

void wait_info_free(struct wait_info *wait)
{
    event_info_free(&wait->event);
    free(wait->holders);
    *wait = (struct wait_info){0};
}

void encode_sleeper(struct encoder *out, const struct sleeper_info *sleeper)
{
    encode_u32(out, sleeper->thread);
    encode_u64(out, (uint64_t)sleeper->since_ns);
    encode_u8(out, sleeper->call);
    encode_u64(out, sleeper->word);
    encode_event_info(out, &sleeper->event);
}

void decode_sleeper(struct decoder *in, struct sleeper_info *sleeper)
{
    *sleeper = (struct sleeper_info){.thread = decode_u32(in)};
    sleeper->since_ns = (int64_t)decode_u64(in);
    sleeper->call = decode_u8(in);
    sleeper->word = decode_u64(in);
    decode_event_info(in, &sleeper->event);
}

void sleeper_info_free(struct sleeper_info *sleeper)
{
    event_info_free(&sleeper->event);
    *sleeper = (struct sleeper_info){0};
}

void encode_cycle(struct encoder *out, const struct cycle_info *cycle)
{
    encode_u32(out, cycle->count);
    for (uint32_t i = 0; i < cycle->count; i++) {
        encode_u32(out, cycle->steps[i].thread);
        encode_u32(out, cycle->steps[i].about);
        encode_event_id(out, cycle->steps[i].at);
        encode_event_id(out, cycle->steps[i].since);
        encode_u8(out, cycle->steps[i].how);
        encode_u8(out, cycle->steps[i].only);
        encode_u64(out, (uint64_t)cycle->steps[i].time_ns);
    }
}

void decode_cycle(struct decoder *in, struct cycle_info *cycle)
{
    uint32_t n = decode_count(in, STEP_BYTES);
    *cycle = (struct cycle_info){.steps = decode_array(in, n, sizeof *cycle->steps)};
    for (; cycle->steps && cycle->count < n; cycle->count++) {
        cycle->steps[cycle->count].thread = decode_u32(in);
        struct cycle_step_info *step = &cycle->steps[cycle->count];
        step->about = decode_u32(in);
        step->at = decode_event_id(in);
        step->since = decode_event_id(in);
        step->how = decode_hold_kind(in);
        step->only = decode_u8(in) != 0;
        step->time_ns = (int64_t)decode_u64(in);
    }
}

void encode_diagnosis(struct encoder *out, const struct diagnosis_info *v)
{
    encode_u32(out, v->about);
    encode_u8(out, (uint8_t)v->fate);
    encode_u32(out, v->doubts);
    encode_event_id(out, v->wait);
    encode_event_id(out, v->waker);
    encode_u32(out, v->waker_type);
    encode_u8(out, v->waker_relation);
    encode_u8(out, v->went_on);
    encode_u32(out, v->able_count);
    for (uint32_t i = 0; i < v->able_count; i++) {
        encode_u32(out, v->able[i].thread);
        encode_u8(out, v->able[i].state);
        encode_event_id(out, v->able[i].last);
    }
    encode_u32(out, v->run_count);
    for (uint32_t i = 0; i < v->run_count; i++)
        encode_u32(out, v->runs[i]);
}

static void decode_able(struct decoder *in, struct diagnosis_info *v)
{
    uint32_t n = decode_count(in, ABLE_BYTES);
    v->able = decode_array(in, n, sizeof *v->able);
    for (; v->able && v->able_count < n; v->able_count++) {
        struct waker_info *able = &v->able[v->able_count];
        able->thread = decode_u32(in);
        able->state = decode_u8(in);
        able->last = decode_event_id(in);
        if (able->state >= WAKER_COUNT)
            decoder_fail(in, "invalid thread state");
    }
}

void decode_diagnosis(struct decoder *in, struct diagnosis_info *v)
{
    *v = (struct diagnosis_info){.about = decode_u32(in)};
    v->fate = decode_fate(in);
    v->doubts = decode_u32(in);
    v->wait = decode_event_id(in);
    v->waker = decode_event_id(in);
    v->waker_type = decode_u32(in);
    v->waker_relation = decode_u8(in);
    v->went_on = decode_u8(in);
    if (v->waker_relation > RELATION_CODE(ORDER_UNKNOWN))
        decoder_fail(in, "invalid causal relation");
    decode_able(in, v);
    uint32_t n = decode_count(in, 4);
    v->runs = decode_array(in, n, sizeof *v->runs);
    for (; v->runs && v->run_count < n; v->run_count++)
        v->runs[v->run_count] = decode_u32(in);
}

void diagnosis_info_free(struct diagnosis_info *v)
{
    free(v->able);
    free(v->runs);
    *v = (struct diagnosis_info){0};
}

void encode_now(struct encoder *out, const struct trace_time_info *now)
{
    encode_u64(out, (uint64_t)now->last_ns);
    encode_u64(out, (uint64_t)now->now_ns);
    encode_u8(out, now->live);
}

void decode_now(struct decoder *in, struct trace_time_info *now)
{
    *now = (struct trace_time_info){.last_ns = (int64_t)decode_u64(in)};
    now->now_ns = (int64_t)decode_u64(in);
    now->live = decode_u8(in) != 0;
}

void encode_relation_counts(struct encoder *out, const struct relation_counts *c)
{
    encode_event_id(out, c->at);
    encode_u8(out, c->known);
    encode_u64(out, c->before);
    encode_u64(out, c->after);
    encode_u64(out, c->concurrent);
    encode_u64(out, c->same);
    encode_u64(out, c->unknown);
    encode_u8(out, c->whole);
}

void decode_relation_counts(struct decoder *in, struct relation_counts *c)
{
    *c = (struct relation_counts){.at = decode_event_id(in)};
    c->known = decode_u8(in);
    c->before = decode_u64(in);
    c->after = decode_u64(in);
    c->concurrent = decode_u64(in);
    c->same = decode_u64(in);
    c->unknown = decode_u64(in);
    c->whole = decode_u8(in) != 0;
}

void encode_between(struct encoder *out, const struct between_info *span)
{
    encode_event_id(out, span->from);
    encode_event_id(out, span->to);
    encode_u8(out, span->known);
    encode_u8(out, span->whole);
    encode_u64(out, (uint64_t)span->ns);
    encode_u64(out, span->events);
    encode_u32(out, span->kind_count);
    for (uint32_t i = 0; i < span->kind_count; i++) {
        encode_u32(out, span->kinds[i].type);
        encode_u64(out, span->kinds[i].events);
    }
}

void decode_between(struct decoder *in, struct between_info *span)
{
    *span = (struct between_info){.from = decode_event_id(in)};
    span->to = decode_event_id(in);
    span->known = decode_u8(in) != 0;
    span->whole = decode_u8(in) != 0;
    span->ns = (int64_t)decode_u64(in);
    span->events = decode_u64(in);
    uint32_t n = decode_count(in, KIND_BYTES);
    span->kinds = decode_array(in, n, sizeof *span->kinds);
    for (; span->kinds && span->kind_count < n; span->kind_count++) {
        span->kinds[span->kind_count].type = decode_u32(in);
        span->kinds[span->kind_count].events = decode_u64(in);
    }
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
    encode_u32(out, f->hit_count);
    for (uint32_t i = 0; i < f->hit_count; i++) {
        encode_event_id(out, f->hits[i].at);
        encode_u64(out, f->hits[i].position);
    }
}

void decode_search_result(struct decoder *in, struct search_result *f)
{
    *f = (struct search_result){.done = decode_u8(in)};
    f->looked = decode_u64(in);
    f->count = decode_u64(in);
    f->problem = decode_name(in, LIMIT_TEXT_BYTES * 4);
    uint32_t n = decode_count(in, HIT_BYTES);
    f->hits = decode_array(in, n, sizeof *f->hits);
    for (; f->hits && f->hit_count < n; f->hit_count++) {
        f->hits[f->hit_count].at = decode_event_id(in);
        f->hits[f->hit_count].position = decode_u64(in);
    }
}

void search_result_free(struct search_result *f)
{
    free(f->problem);
    free(f->hits);
    *f = (struct search_result){0};
}
