/* What a thread did between its events, as its records tell it, and as it was kept of them. */
#include "server/intake/announce.h"
#include "server/run/did.h"
#include "server/store/chunk.h"
#include "wire/region.h"
#include "wire/slot.h"

#include <string.h>

#define FACT_BYTES 24u /* before the head */

static bool believable(const struct measured_head *head, const struct measured_step *steps)
{
    uint64_t sum = 0;
    for (uint16_t i = 0; i < head->count; i++)
        if (steps[i].ticks > SUMS_TIME_MOST || (sum += steps[i].ticks) > SUMS_TIME_MOST ||
            (steps[i].step >= 2 * REGION_CONTEXTS && steps[i].step != MEASURED_REST))
            return false;
    return true;
}

/* The fact: u32 own line of the thread, u32 line, u64 number and i64 time ns of the event, then as with the record.
 * Where it cannot be, or there is no room, it is that what the thread does is not known from there on. */
void session_measured(struct session *session, uint32_t thread, const struct slot *slot,
                      struct ref at)
{
    struct measured_head head = *(const struct measured_head *)(const void *)(slot + 1);
    const struct measured_step *steps = (const void *)((const char *)(slot + 1) + sizeof head);
    struct out fact = {0};
    uint32_t own = session_line(session, thread);
    int64_t time_ns = (int64_t)(slot->time_ns - session->run->start_ns);
    head.what &= MEASURED_CPU | MEASURED_STEPS;
    if (!believable(&head, steps))
        head = (struct measured_head){.what = MEASURED_STEPS};
    if (!own || !did_add(session->run, own, at, time_ns, &head, steps))
        return;
    put_u32(&fact, own);
    put_u32(&fact, at.line);
    put_u64(&fact, at.number);
    put_u64(&fact, (uint64_t)time_ns);
    put_bytes(&fact, &head, sizeof head);
    put_bytes(&fact, steps, head.count * sizeof *steps);
    run_fact(session->run, (struct chunk){.kind = CHUNK_STEPS,
                                          .session = session->number,
                                          .thread = thread,
                                          .data = fact.data,
                                          .size = (uint32_t)fact.size});
    out_free(&fact);
}

bool session_did(struct run *run, const uint8_t *body, size_t size)
{
    struct measured_head head;
    struct measured_step steps[MEASURED_AT_ONCE];
    struct in in = in_from(body, size);
    uint32_t own = get_u32(&in), line = get_u32(&in);
    uint64_t number = get_u64(&in);
    int64_t time_ns = (int64_t)get_u64(&in);
    if (in.error || in_left(&in) < sizeof head)
        return false;
    memcpy(&head, body + FACT_BYTES, sizeof head);
    if (head.count > MEASURED_AT_ONCE ||
        size != FACT_BYTES + sizeof head + head.count * sizeof *steps)
        return false;
    memcpy(steps, body + FACT_BYTES + sizeof head, head.count * sizeof *steps);
    if (!own || own > LIMIT_LINES || !believable(&head, steps))
        return false;
    did_add(run, own, (struct ref){line, number}, time_ns, &head, steps);
    return true;
}
