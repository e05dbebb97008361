/* What threads measured of their calls, as a session is told of it. */
#include "server/intake/announce.h"
#include "wire/region.h"

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
