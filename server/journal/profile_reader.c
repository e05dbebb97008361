#include "server/journal/profile_reader.h"

#include "base/map.h"
#include "server/decode/metric_records.h"
#include "server/decode/profile_region_reader.h"
#include "server/eventloop/loop_turn.h"

/* False: there is no room for it. */
static bool profile_reader_write(struct captured_program *program,
                                 const struct region_reader *region, enum chunk_kind kind,
                                 const struct encoder *body, bool last)
{
    program->sums_bytes += CHUNK_HEAD_BYTES + body->size;
    return journal_append(program->taking,
                          &(struct chunk){.kind = (uint16_t)kind,
                                          .session = program->session,
                                          .thread = region->thread,
                                          .data = body->data,
                                          .size = (uint32_t)body->size},
                          1, last);
}

static void read_one(struct captured_program *program, struct region_reader *region,
                     const struct region_moment *moment, bool last)
{
    struct encoder body = {0};
    bool fits = true, any = region_reader_poll(region, moment);
    while (any && fits && region_reader_encode(region, moment, &body)) {
        fits = profile_reader_write(program, region, CHUNK_SUMS, &body, last);
        body.size = 0;
    }
    if (!fits)
        region_reader_pending(region);
    body.size = 0;
    if (metric_records_encode(region, moment->ns, &body) &&
        !profile_reader_write(program, region, CHUNK_METERS, &body, last))
        metric_records_pending(region);
    encoder_free(&body);
}

void profile_reader_now(struct captured_program *program, struct tsc_clock *ticks, bool last)
{
    if (!program->regions)
        return;
    struct region_moment moment = region_reader_now(ticks, true);
    for (struct region_reader *r = program->regions; r; r = r->next)
        read_one(program, r, &moment, last);
}

/* Threads whose queues are gone: nothing more comes from them. */
static void drop_ended(struct captured_program *program, struct tsc_clock *ticks)
{
    struct map live = {0};
    for (struct shared_queue *q = program->queues; q; q = q->next)
        map_put(&live, q->head->thread, 0, q);
    for (struct region_reader **at = &program->regions, *r; (r = *at) != NULL;) {
        if (map_get(&live, r->thread, 0)) {
            at = &r->next;
            continue;
        }
        struct region_moment moment = region_reader_now(ticks, true);
        read_one(program, r, &moment, false);
        *at = r->next;
        program->region_count--;
        region_reader_free(r);
    }
    map_free(&live);
}

void profile_reader_poll(struct captured_program *program, struct tsc_clock *ticks)
{
    uint64_t now = program->regions ? loop_clock_ns() : 0;
    bool asked = program->sums_wanted, due = now >= program->sums_ns;
    if (!program->regions || (!asked && !due))
        return;
    program->sums_wanted = false;
    program->sums_bytes = 0;
    drop_ended(program, ticks);
    struct region_moment moment = region_reader_now(ticks, asked);
    for (struct region_reader *r = program->regions; r; r = r->next)
        read_one(program, r, &moment, false);
    uint64_t pause = program->sums_bytes * PROFILE_READ_NS_PER_BYTE;
    program->sums_ns = now + (pause > PROFILE_READ_INTERVAL_NS ? pause : PROFILE_READ_INTERVAL_NS);
}
