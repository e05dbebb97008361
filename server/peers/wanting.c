#include "server/peers/wanting.h"

#include "server/intake/session.h"
#include "server/peers/server.h"
#include "server/taking/taking.h"
#include "wire/region.h"

#include <stdlib.h>

static void set(const struct queue *queue, uint32_t mask, uint32_t bits)
{
    atomic_fetch_and_explicit(&queue->head->wanted, ~(mask & ~bits), memory_order_relaxed);
    atomic_fetch_or_explicit(&queue->head->wanted, (bits & mask) | WANTED_CHOSEN,
                             memory_order_relaxed);
}

/* One that follows another goes on as that one was. */
void wanting_queue(const struct peer *peer)
{
    const struct wants *wants = &peer->run->wants;
    if (wants->chosen && peer->program->queues && !peer->program->queues->after)
        set(peer->program->queues, wants->mask, wants->bits);
}

static bool is_meant(const struct want_request *want, uint32_t line)
{
    bool meant = !want->line_count;
    for (uint32_t i = 0; i < want->line_count && !meant; i++)
        meant = line && want->lines[i] == line;
    return meant;
}

/* In the door. */
static void pass(const struct peer *peer, const struct want_request *want)
{
    uint32_t number = peer->program->session;
    const struct session *session =
        number < peer->run->session_count ? peer->run->sessions[number] : NULL;
    for (const struct queue *q = peer->program->queues; q; q = q->next)
        if (is_meant(want, session ? session_own_line(session, q->head->thread) : 0))
            set(q, want->mask, want->bits);
}

void wanting_go_on(struct server *server)
{
    for (struct peer *peer = server->peers; peer; peer = peer->next) {
        if (!peer->program || !peer->run->wants.count)
            continue;
        taker_enter(server->taker);
        for (size_t i = 0; i < peer->run->wants.count; i++)
            pass(peer, &peer->run->wants.items[i]);
        taker_leave(server->taker);
    }
    for (size_t i = 0; i < server->runs.count; i++)
        wants_passed(&server->runs.items[i]->wants);
}
