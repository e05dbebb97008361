/* Decodes the activity of threads between their events, from records and from saved bodies. */
#include "server/decode/declarations.h"
#include "server/run/activity_store.h"
#include "server/run/cpu_placement.h"
#include "server/tracefile/chunks.h"
#include "wire/profile_region.h"
#include "wire/slot.h"

#include <string.h>

#define FACT_BYTES 24u /* before the head */

static bool activity_is_plausible(const struct activity_record *head,
                                  const struct code_segment *steps)
{
    uint64_t sum = 0;
    for (uint16_t i = 0; i < head->count; i++)
        if (steps[i].ticks > SNAPSHOT_TIME_MOST || (sum += steps[i].ticks) > SNAPSHOT_TIME_MOST ||
            (steps[i].step >= 2 * REGION_CONTEXTS && steps[i].step != ACTIVITY_REST))
            return false;
    return true;
}

/* Its clock, and the steps; false: there is nothing to keep. */
static bool activity_store(struct run *run, uint32_t own, struct event_id at, int64_t time_ns,
                           struct activity_record *head, const struct code_segment *steps)
{
    if (head->what & ACTIVITY_CPU)
        cpu_placement_clocked(run, own, time_ns, head->cpu_ns, head->what & ACTIVITY_CPU_ANEW);
    if (head->what & ACTIVITY_STEPS && activity_add(run, own, at, time_ns, head, steps))
        return true;
    head->count = 0; /* (of steps there was no room for) */
    head->what &= (uint16_t)~ACTIVITY_STEPS;
    return head->what & ACTIVITY_CPU;
}

/* The fact: u32 own line of the thread, u32 line, u64 number and i64 time ns of the event, then as
 * with the record. Where it cannot be, or there is no room, it is that what the thread does is not
 * known from there on. */
void program_session_decode_measured(struct program_session *session, uint32_t thread,
                                     const struct ring_slot *slot, struct event_id at)
{
    struct activity_record head = *(const struct activity_record *)(const void *)(slot + 1);
    const struct code_segment *steps = (const void *)((const char *)(slot + 1) + sizeof head);
    struct encoder fact = {0};
    uint32_t own = program_session_line(session, thread);
    int64_t time_ns = (int64_t)(slot->time_ns - session->run->clock.start_ns);
    head.what &= ACTIVITY_CPU | ACTIVITY_CPU_ANEW | ACTIVITY_STEPS;
    if (!activity_is_plausible(&head, steps))
        head = (struct activity_record){.what = ACTIVITY_STEPS};
    if (!own || !activity_store(session->run, own, at, time_ns, &head, steps))
        return;
    encode_u32(&fact, own);
    encode_u32(&fact, at.line);
    encode_u64(&fact, at.number);
    encode_u64(&fact, (uint64_t)time_ns);
    encode_bytes(&fact, &head, sizeof head);
    encode_bytes(&fact, steps, head.count * sizeof *steps);
    run_fact(session->run, (struct chunk){.kind = CHUNK_STEPS,
                                          .session = session->number,
                                          .thread = thread,
                                          .data = fact.data,
                                          .size = (uint32_t)fact.size});
    encoder_free(&fact);
}

bool program_session_decode_activity(struct run *run, const uint8_t *body, size_t size)
{
    struct activity_record head;
    struct code_segment steps[ACTIVITY_AT_ONCE];
    struct decoder in = decoder_init(body, size);
    uint32_t own = decode_u32(&in), line = decode_u32(&in);
    uint64_t number = decode_u64(&in);
    int64_t time_ns = (int64_t)decode_u64(&in);
    if (in.error || decoder_remaining(&in) < sizeof head)
        return false;
    memcpy(&head, body + FACT_BYTES, sizeof head);
    if (head.count > ACTIVITY_AT_ONCE ||
        size != FACT_BYTES + sizeof head + head.count * sizeof *steps)
        return false;
    memcpy(steps, body + FACT_BYTES + sizeof head, head.count * sizeof *steps);
    if (!own || own > LIMIT_LINES || !activity_is_plausible(&head, steps))
        return false;
    activity_store(run, own, (struct event_id){line, number}, time_ns, &head, steps);
    return true;
}
