#include "server/connections/measurement_settings.h"

#include "server/decode/program_session.h"
#include "server/connections/event_server.h"
#include "server/journal/capture.h"
#include "wire/profile_region.h"

#include <stdlib.h>

static void settings_set_bits(const struct shared_queue *queue, uint32_t mask, uint32_t bits)
{
    atomic_fetch_and_explicit(&queue->head->wanted, ~(mask & ~bits), memory_order_relaxed);
    atomic_fetch_or_explicit(&queue->head->wanted, (bits & mask) | WANTED_CHOSEN,
                             memory_order_relaxed);
}

/* A queue that follows another keeps the settings of that one. */
void measurement_settings_queue(const struct connection *peer)
{
    const struct run_settings *wants = &peer->run->settings;
    if (wants->chosen && peer->program->queues && !peer->program->queues->after)
        settings_set_bits(peer->program->queues, wants->mask, wants->bits);
}

static bool is_meant(const struct measurement_request *want, uint32_t line)
{
    bool meant = !want->line_count;
    for (uint32_t i = 0; i < want->line_count && !meant; i++)
        meant = line && want->lines[i] == line;
    return meant;
}

/* Must hold the capture lock. */
static void settings_apply_request(const struct connection *peer,
                                   const struct measurement_request *want)
{
    uint32_t number = peer->program->session;
    const struct program_session *session =
        number < peer->run->sessions.count ? peer->run->sessions.items[number] : NULL;
    for (const struct shared_queue *q = peer->program->queues; q; q = q->next)
        if (is_meant(want, session ? program_session_own_line(session, q->head->thread) : 0))
            settings_set_bits(q, want->mask, want->bits);
}

void measurement_settings_step(struct server *server)
{
    for (struct connection *peer = server->peers; peer; peer = peer->next) {
        if (!peer->program || !peer->run->settings.count)
            continue;
        capture_lock(server->taker);
        for (size_t i = 0; i < peer->run->settings.count; i++)
            settings_apply_request(peer, &peer->run->settings.items[i]);
        capture_unlock(server->taker);
    }
    for (size_t i = 0; i < server->runs.count; i++)
        run_settings_applied(&server->runs.items[i]->settings);
}
