/* Decodes what threads measured of themselves, for a session: their call profiles, when their calls
 * began and ended, their metrics, and their activity between their events. */
#include "server/decode/declarations.h"
#include "server/run/activity_store.h"
#include "server/run/cpu_placement.h"
#include "server/run/metrics.h"
#include "server/tracefile/chunks.h"
#include "wire/profile_region.h"
#include "wire/profile_snapshot.h"
#include "wire/slot.h"

#include <string.h>

/* ---- call profiles ---- */

/* What the program calls lines and types, as far as it has announced them by now. */
static void profile_resolve_names(const struct program_session *session,
                                  struct call_context_thread *thread)
{
    thread->process = session->process;
    if (!thread->line)
        call_contexts_announced(&session->run->contexts, thread,
                                program_session_line(session, thread->code));
    for (size_t i = 0; i < thread->count; i++) {
        struct call_context *c = &thread->items[i];
        uint64_t code = c->sums.is.function;
        if (!c->type && c->sums.is.scope == SCOPE_WAITED && code < LIMIT_TYPES)
            c->type = session->types[code];
    }
}

bool program_session_decode_profile(struct program_session *session, uint32_t code,
                                    const uint8_t *body, size_t size, const char **why)
{
    struct call_context_thread *thread =
        call_contexts_thread(&session->run->contexts, session->number, code);
    bool good = call_contexts_update(thread, body, size, why);
    if (good)
        call_contexts_keep(&session->run->contexts, thread, body, size);
    profile_resolve_names(session, thread);
    session->run->generation++;
    return good;
}

bool program_session_decode_calls(struct program_session *session, uint32_t code,
                                  const uint8_t *body, size_t size, const char **why)
{
    session->run->entries.events = order_count(session->run->order);
    bool good = call_entries_append(&session->run->entries, session->number, code, body, size, why);
    session->run->generation++;
    return good;
}

void program_session_name_sums(const struct program_session *session)
{
    struct call_contexts *all = &session->run->contexts;
    for (uint32_t i = 0; i < all->count; i++)
        if (all->threads[i].session == session->number)
            profile_resolve_names(session, &all->threads[i]);
}

/* ---- metrics ---- */

/* What counts and gauges stood at then. */
static void note_figure(const struct program_session *session,
                        const struct program_metric_sums *sums)
{
    bool gauge = sums->sums.kind == METRIC_GAUGE;
    if (!sums->line || sums->sums.kind == METRIC_DISTRIBUTION || !sums->sums.count)
        return;
    os_metrics_add(session->run,
                   &(struct os_metric_series){.process = session->process,
                                              .thread = sums->line,
                                              .meter = OS_METRICS_OWN + sums->sums.code},
                   (struct os_metric_point){(int64_t)(sums->time_ns - session->run->clock.start_ns),
                                            gauge ? sums->sums.last : sums->sums.sum});
}

bool program_session_decode_metrics(struct program_session *session, uint32_t thread,
                                    const uint8_t *body, size_t size, const char **why)
{
    struct decoder in = decoder_init(body, size);
    struct program_metric_sums sums = {.session = session->number,
                                       .thread = thread,
                                       .line = program_session_line(session, thread),
                                       .time_ns = decode_u64(&in)};
    if (sums.time_ns > SNAPSHOT_TIME_MOST)
        decoder_fail(&in, "invalid timestamp");
    uint32_t count = decode_count(&in, METRIC_SUMS_BYTES);
    for (uint32_t i = 0; i < count && decode_metric_sums(&in, &sums.sums); i++) {
        program_metrics_count(session->run, &sums);
        note_figure(session, &sums);
    }
    session->run->generation++;
    decoder_finish(&in);
    *why = in.error;
    return !in.error;
}

void program_session_name_metrics(const struct program_session *session)
{
    for (size_t i = 0; i < program_metrics_counted(session->run); i++) {
        struct program_metric_sums *s = program_metrics_counted_at(session->run, i);
        if (!s->line && s->session == session->number)
            s->line = program_session_line(session, s->thread);
    }
}

/* ---- activity, from records and from saved bodies ---- */

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
