/* What threads measured of their calls, as a session is told of it. */
#include "server/intake/announce.h"
#include "server/run/figures.h"
#include "server/run/metered.h"
#include "wire/region.h"
#include "wire/sums.h"

/* What the program calls lines and types, as far as it has announced them by now. */
static void name(const struct session *session, struct context_thread *thread)
{
    thread->process = session->process;
    if (!thread->line)
        contexts_announced(&session->run->contexts, thread, session_line(session, thread->code));
    for (size_t i = 0; i < thread->count; i++) {
        struct context *c = &thread->items[i];
        uint64_t code = c->sums.is.function;
        if (!c->type && c->sums.is.scope == SCOPE_WAITED && code < LIMIT_TYPES)
            c->type = session->types[code];
    }
}

bool session_sums(struct session *session, uint32_t code, const uint8_t *body, size_t size,
                  const char **error)
{
    struct context_thread *thread = contexts_thread(&session->run->contexts, session->number, code);
    bool good = contexts_take(thread, body, size, error);
    if (good)
        contexts_keep(&session->run->contexts, thread, body, size);
    name(session, thread);
    session->run->generation++;
    return good;
}

void session_name_sums(const struct session *session)
{
    struct contexts *all = &session->run->contexts;
    for (uint32_t i = 0; i < all->count; i++)
        if (all->threads[i].session == session->number)
            name(session, &all->threads[i]);
}

/* What counts and gauges stood at then. */
static void note_figure(const struct session *session, const struct metered_sums *told)
{
    bool gauge = told->sums.kind == METER_GAUGE;
    if (!told->line || told->sums.kind == METER_DISTRIBUTION || !told->sums.count)
        return;
    figures_add(session->run,
                &(struct figures){.process = session->process,
                                  .thread = told->line,
                                  .meter = FIGURES_OWN + told->sums.code},
                (struct figures_point){(int64_t)(told->time_ns - session->run->start_ns),
                                       gauge ? told->sums.last : told->sums.sum});
}

bool session_meters(struct session *session, uint32_t thread, const uint8_t *body, size_t size,
                    const char **error)
{
    struct in in = in_from(body, size);
    struct metered_sums told = {.session = session->number,
                                .thread = thread,
                                .line = session_line(session, thread),
                                .time_ns = get_u64(&in)};
    if (told.time_ns > SUMS_TIME_MOST)
        in_fail(&in, "a time that cannot be");
    uint32_t count = get_count(&in, METER_SUMS_BYTES);
    for (uint32_t i = 0; i < count && get_meter_sums(&in, &told.sums); i++) {
        metered_count(session->run, &told);
        note_figure(session, &told);
    }
    session->run->generation++;
    in_done(&in);
    *error = in.error;
    return !in.error;
}

void session_name_meters(const struct session *session)
{
    for (size_t i = 0; i < metered_counted(session->run); i++) {
        struct metered_sums *s = metered_counted_at(session->run, i);
        if (!s->line && s->session == session->number)
            s->line = session_line(session, s->thread);
    }
}
