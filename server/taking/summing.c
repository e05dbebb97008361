#include "server/taking/summing.h"

#include "memory/map.h"
#include "server/intake/counted.h"
#include "server/intake/region.h"
#include "server/loop/turn.h"

/* False: there is no room for it. */
static bool put(struct program *program, const struct region *region, enum chunk_kind kind,
                const struct out *body, bool last)
{
    program->sums_bytes += CHUNK_HEAD_BYTES + body->size;
    return journal_put(program->taking,
                       &(struct chunk){.kind = (uint16_t)kind,
                                       .session = program->session,
                                       .thread = region->thread,
                                       .data = body->data,
                                       .size = (uint32_t)body->size},
                       1, last);
}

static void read_one(struct program *program, struct region *region,
                     const struct region_moment *moment, bool last)
{
    struct out body = {0};
    bool fits = true, any = region_look(region, moment);
    while (any && fits && region_tell(region, moment, &body)) {
        fits = put(program, region, CHUNK_SUMS, &body, last);
        body.size = 0;
    }
    if (!fits)
        region_untold(region);
    body.size = 0;
    if (counted_tell(region, moment->ns, &body) && !put(program, region, CHUNK_METERS, &body, last))
        counted_untold(region);
    out_free(&body);
}

void summing_now(struct program *program, struct ticks *ticks, bool last)
{
    if (!program->regions)
        return;
    struct region_moment moment = region_now(ticks, true);
    for (struct region *r = program->regions; r; r = r->next)
        read_one(program, r, &moment, last);
}

/* Threads whose queues are gone: nothing more comes from them. */
static void drop_ended(struct program *program, struct ticks *ticks)
{
    struct map live = {0};
    for (struct queue *q = program->queues; q; q = q->next)
        map_put(&live, q->head->thread, 0, q);
    for (struct region **at = &program->regions, *r; (r = *at) != NULL;) {
        if (map_get(&live, r->thread, 0)) {
            at = &r->next;
            continue;
        }
        struct region_moment moment = region_now(ticks, true);
        read_one(program, r, &moment, false);
        *at = r->next;
        program->region_count--;
        region_free(r);
    }
    map_free(&live);
}

void summing_round(struct program *program, struct ticks *ticks)
{
    uint64_t now = program->regions ? turn_clock_ns() : 0;
    bool asked = program->sums_wanted, due = now >= program->sums_ns;
    if (!program->regions || (!asked && !due))
        return;
    program->sums_wanted = false;
    program->sums_bytes = 0;
    drop_ended(program, ticks);
    struct region_moment moment = region_now(ticks, asked);
    for (struct region *r = program->regions; r; r = r->next)
        read_one(program, r, &moment, false);
    uint64_t pause = program->sums_bytes * SUMS_NS_A_BYTE;
    program->sums_ns = now + (pause > SUMS_EVERY_NS ? pause : SUMS_EVERY_NS);
}
