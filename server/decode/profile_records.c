/* Decodes the call profiles of threads, and when their calls began and ended, for a session. */
#include "server/decode/declarations.h"
#include "server/run/os_metrics.h"
#include "server/run/program_metrics.h"
#include "wire/profile_region.h"
#include "wire/profile_snapshot.h"

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
                                    const uint8_t *body, size_t size, const char **error)
{
    struct call_context_thread *thread =
        call_contexts_thread(&session->run->contexts, session->number, code);
    bool good = call_contexts_update(thread, body, size, error);
    if (good)
        call_contexts_keep(&session->run->contexts, thread, body, size);
    profile_resolve_names(session, thread);
    session->run->generation++;
    return good;
}

bool program_session_decode_calls(struct program_session *session, uint32_t code,
                                  const uint8_t *body, size_t size, const char **error)
{
    session->run->entries.events = order_count(session->run->order);
    bool good =
        call_entries_append(&session->run->entries, session->number, code, body, size, error);
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
                                    const uint8_t *body, size_t size, const char **error)
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
    *error = in.error;
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
