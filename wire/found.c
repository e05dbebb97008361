#include "wire/found.h"

#include "wire/limits.h"
#include "wire/ref.h"
#include "wire/text.h"

#include <stdlib.h>

/* So many bytes each of them takes: more of them than fit are nonsense. */
enum { HOLDER_BYTES = 4 + REF_BYTES, STEP_BYTES = 4 + 4, HIT_BYTES = REF_BYTES + 8 };

void put_wait(struct out *out, const struct shown_wait *wait)
{
    put_u32(out, wait->thread);
    put_u32(out, wait->about);
    put_event(out, &wait->event);
    put_u32(out, wait->holder_count);
    for (uint32_t i = 0; i < wait->holder_count; i++) {
        put_u32(out, wait->holders[i].thread);
        put_ref(out, wait->holders[i].since);
    }
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
    }
}

void shown_wait_free(struct shown_wait *wait)
{
    shown_event_free(&wait->event);
    free(wait->holders);
    *wait = (struct shown_wait){0};
}

void get_cycle(struct in *in, struct shown_cycle *cycle)
{
    uint32_t n = get_count(in, STEP_BYTES);
    *cycle = (struct shown_cycle){.steps = get_room(in, n, sizeof *cycle->steps)};
    for (; cycle->steps && cycle->count < n; cycle->count++) {
        cycle->steps[cycle->count].thread = get_u32(in);
        cycle->steps[cycle->count].about = get_u32(in);
    }
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
