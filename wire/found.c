#include "wire/found.h"

#include "wire/limits.h"
#include "wire/ref.h"
#include "wire/text.h"

#include <stdlib.h>

/* So many bytes each of them takes: more of them than fit are nonsense. */
enum {
    HOLDER_BYTES = 4 + REF_BYTES + 12,
    STEP_BYTES = 4 + 4 + 2 * REF_BYTES + 8,
    ABLE_BYTES = 4 + 1 + REF_BYTES,
    KIND_BYTES = 4 + 8,
    HIT_BYTES = REF_BYTES + 8
};

void put_wait(struct out *out, const struct shown_wait *wait)
{
    put_u32(out, wait->thread);
    put_u32(out, wait->about);
    put_event(out, &wait->event);
    put_u32(out, wait->holder_count);
    for (uint32_t i = 0; i < wait->holder_count; i++) {
        put_u32(out, wait->holders[i].thread);
        put_ref(out, wait->holders[i].since);
        put_u32(out, wait->holders[i].process);
        put_u64(out, wait->holders[i].site);
    }
    put_u8(out, (uint8_t)wait->fate);
    put_u8(out, wait->at_exit);
    put_u8(out, wait->end);
    put_u64(out, (uint64_t)wait->since_ns);
}

static enum fate get_fate(struct in *in)
{
    uint8_t fate = get_u8(in);
    if (fate >= FATE_COUNT)
        in_fail(in, "an impossible fate");
    return fate < FATE_COUNT ? (enum fate)fate : FATE_OPEN;
}

void get_wait(struct in *in, struct shown_wait *wait)
{
    *wait = (struct shown_wait){.thread = get_u32(in)};
    wait->about = get_u32(in);
    get_event(in, &wait->event);
    uint32_t n = get_count(in, HOLDER_BYTES);
    wait->holders = get_room(in, n, sizeof *wait->holders);
    for (; wait->holders && wait->holder_count < n; wait->holder_count++) {
        wait->holders[wait->holder_count].thread = get_u32(in);
        wait->holders[wait->holder_count].since = get_ref(in);
        wait->holders[wait->holder_count].process = get_u32(in);
        wait->holders[wait->holder_count].site = get_u64(in);
    }
    wait->fate = get_fate(in);
    wait->at_exit = get_u8(in) != 0;
    wait->end = get_u8(in) != 0;
    wait->since_ns = (int64_t)get_u64(in);
}

void shown_wait_free(struct shown_wait *wait)
{
    shown_event_free(&wait->event);
    free(wait->holders);
    *wait = (struct shown_wait){0};
}

void put_sleeper(struct out *out, const struct shown_sleeper *sleeper)
{
    put_u32(out, sleeper->thread);
    put_u64(out, (uint64_t)sleeper->since_ns);
    put_u8(out, sleeper->call);
    put_event(out, &sleeper->event);
}

void get_sleeper(struct in *in, struct shown_sleeper *sleeper)
{
    *sleeper = (struct shown_sleeper){.thread = get_u32(in)};
    sleeper->since_ns = (int64_t)get_u64(in);
    sleeper->call = get_u8(in);
    get_event(in, &sleeper->event);
}

void shown_sleeper_free(struct shown_sleeper *sleeper)
{
    shown_event_free(&sleeper->event);
    *sleeper = (struct shown_sleeper){0};
}

void put_cycle(struct out *out, const struct shown_cycle *cycle)
{
    put_u32(out, cycle->count);
    for (uint32_t i = 0; i < cycle->count; i++) {
        put_u32(out, cycle->steps[i].thread);
        put_u32(out, cycle->steps[i].about);
        put_ref(out, cycle->steps[i].at);
        put_ref(out, cycle->steps[i].since);
        put_u64(out, (uint64_t)cycle->steps[i].time_ns);
    }
}

void get_cycle(struct in *in, struct shown_cycle *cycle)
{
    uint32_t n = get_count(in, STEP_BYTES);
    *cycle = (struct shown_cycle){.steps = get_room(in, n, sizeof *cycle->steps)};
    for (; cycle->steps && cycle->count < n; cycle->count++) {
        cycle->steps[cycle->count].thread = get_u32(in);
        struct shown_step *step = &cycle->steps[cycle->count];
        step->about = get_u32(in);
        step->at = get_ref(in);
        step->since = get_ref(in);
        step->time_ns = (int64_t)get_u64(in);
    }
}

void put_verdict(struct out *out, const struct shown_verdict *v)
{
    put_u32(out, v->about);
    put_u8(out, (uint8_t)v->fate);
    put_u32(out, v->doubts);
    put_ref(out, v->wait);
    put_ref(out, v->waker);
    put_u32(out, v->waker_type);
    put_u8(out, v->stands);
    put_u8(out, v->went_on);
    put_u32(out, v->able_count);
    for (uint32_t i = 0; i < v->able_count; i++) {
        put_u32(out, v->able[i].thread);
        put_u8(out, v->able[i].state);
        put_ref(out, v->able[i].last);
    }
    put_u32(out, v->run_count);
    for (uint32_t i = 0; i < v->run_count; i++)
        put_u32(out, v->runs[i]);
}

static void get_able(struct in *in, struct shown_verdict *v)
{
    uint32_t n = get_count(in, ABLE_BYTES);
    v->able = get_room(in, n, sizeof *v->able);
    for (; v->able && v->able_count < n; v->able_count++) {
        struct shown_able *able = &v->able[v->able_count];
        able->thread = get_u32(in);
        able->state = get_u8(in);
        able->last = get_ref(in);
        if (able->state >= ABLE_COUNT)
            in_fail(in, "a thread is in an impossible state");
    }
}

void get_verdict(struct in *in, struct shown_verdict *v)
{
    *v = (struct shown_verdict){.about = get_u32(in)};
    v->fate = get_fate(in);
    v->doubts = get_u32(in);
    v->wait = get_ref(in);
    v->waker = get_ref(in);
    v->waker_type = get_u32(in);
    v->stands = get_u8(in);
    v->went_on = get_u8(in);
    if (v->stands > STANDS_AS(ORDER_UNKNOWN))
        in_fail(in, "events stand to each other in an impossible way");
    get_able(in, v);
    uint32_t n = get_count(in, 4);
    v->runs = get_room(in, n, sizeof *v->runs);
    for (; v->runs && v->run_count < n; v->run_count++)
        v->runs[v->run_count] = get_u32(in);
}

void shown_verdict_free(struct shown_verdict *v)
{
    free(v->able);
    free(v->runs);
    *v = (struct shown_verdict){0};
}

void put_now(struct out *out, const struct shown_now *now)
{
    put_u64(out, (uint64_t)now->last_ns);
    put_u64(out, (uint64_t)now->now_ns);
    put_u8(out, now->live);
}

void get_now(struct in *in, struct shown_now *now)
{
    *now = (struct shown_now){.last_ns = (int64_t)get_u64(in)};
    now->now_ns = (int64_t)get_u64(in);
    now->live = get_u8(in) != 0;
}

void put_count(struct out *out, const struct shown_count *c)
{
    put_ref(out, c->at);
    put_u8(out, c->known);
    put_u64(out, c->before);
    put_u64(out, c->after);
    put_u64(out, c->concurrent);
    put_u64(out, c->same);
    put_u64(out, c->unknown);
    put_u8(out, c->whole);
}

void get_count_is(struct in *in, struct shown_count *c)
{
    *c = (struct shown_count){.at = get_ref(in)};
    c->known = get_u8(in);
    c->before = get_u64(in);
    c->after = get_u64(in);
    c->concurrent = get_u64(in);
    c->same = get_u64(in);
    c->unknown = get_u64(in);
    c->whole = in_left(in) ? get_u8(in) != 0 : true; /* an older server counts to the end */
}

void put_span(struct out *out, const struct shown_span *span)
{
    put_ref(out, span->from);
    put_ref(out, span->to);
    put_u8(out, span->known);
    put_u8(out, span->whole);
    put_u64(out, (uint64_t)span->ns);
    put_u64(out, span->events);
    put_u32(out, span->kind_count);
    for (uint32_t i = 0; i < span->kind_count; i++) {
        put_u32(out, span->kinds[i].type);
        put_u64(out, span->kinds[i].events);
    }
}

void get_span(struct in *in, struct shown_span *span)
{
    *span = (struct shown_span){.from = get_ref(in)};
    span->to = get_ref(in);
    span->known = get_u8(in) != 0;
    span->whole = get_u8(in) != 0;
    span->ns = (int64_t)get_u64(in);
    span->events = get_u64(in);
    uint32_t n = get_count(in, KIND_BYTES);
    span->kinds = get_room(in, n, sizeof *span->kinds);
    for (; span->kinds && span->kind_count < n; span->kind_count++) {
        span->kinds[span->kind_count].type = get_u32(in);
        span->kinds[span->kind_count].events = get_u64(in);
    }
}

void shown_span_free(struct shown_span *span)
{
    free(span->kinds);
    *span = (struct shown_span){0};
}

void put_found(struct out *out, const struct shown_found *f)
{
    put_u8(out, f->done);
    put_u64(out, f->looked);
    put_u64(out, f->count);
    put_string(out, f->problem);
    put_u32(out, f->hit_count);
    for (uint32_t i = 0; i < f->hit_count; i++) {
        put_ref(out, f->hits[i].at);
        put_u64(out, f->hits[i].position);
    }
}

void get_found(struct in *in, struct shown_found *f)
{
    *f = (struct shown_found){.done = get_u8(in)};
    f->looked = get_u64(in);
    f->count = get_u64(in);
    f->problem = get_name(in, LIMIT_TEXT_BYTES * 4);
    uint32_t n = get_count(in, HIT_BYTES);
    f->hits = get_room(in, n, sizeof *f->hits);
    for (; f->hits && f->hit_count < n; f->hit_count++) {
        f->hits[f->hit_count].at = get_ref(in);
        f->hits[f->hit_count].position = get_u64(in);
    }
}

void shown_found_free(struct shown_found *f)
{
    free(f->problem);
    free(f->hits);
    *f = (struct shown_found){0};
}
