#define _GNU_SOURCE
#include "server/peers/watching.h"

#include "memory/memory.h"
#include "server/peers/server.h"
#include "server/sampling/sampler.h"
#include "server/taking/taking.h"
#include "wire/region.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

struct watch {
    struct sampler *sampler;
    bool same_numbers; /* it has the numbers of processes and threads that we have */
    bool wanted; /* its queues were told so */
    bool fast; /* more often than the loop looks by itself */
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void watching_begin(struct peer *peer, uint32_t pid)
{
    struct ucred who = {0};
    socklen_t size = sizeof who;
    struct sampler *sampler =
        getsockopt(peer->channel.fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0
            ? sampler_new(who.pid)
            : NULL;
    if (!sampler)
        return;
    peer->watch = memory_zeroed(1, sizeof *peer->watch);
    *peer->watch = (struct watch){.sampler = sampler,
                                  .same_numbers = (uint32_t)who.pid == pid,
                                  .wanted = !sampler_filtered(sampler)};
}

/* Its threads that have not ended; the caller's.  In the door. */
static struct sampled_thread *threads_of(const struct peer *peer, size_t *count)
{
    struct sampled_thread *threads = memory_zeroed(peer->program->queue_count + 1, sizeof *threads);
    *count = 0;
    for (const struct queue *q = peer->program->queues; q; q = q->next)
        if (!q->done && *count < peer->program->queue_count)
            threads[(*count)++] =
                (struct sampled_thread){.code = q->head->thread,
                                        .tid = peer->watch->same_numbers ? (pid_t)q->head->tid : 0};
    return threads;
}

/* Whether its thread is to say itself at its end what it used.  In the door. */
static void want_usage(struct queue *queue, bool wanted)
{
    if (wanted)
        atomic_fetch_or_explicit(&queue->head->wanted, WANTED_USAGE, memory_order_relaxed);
    else
        atomic_fetch_and_explicit(&queue->head->wanted, ~WANTED_USAGE, memory_order_relaxed);
}

static void look_whether_wanted(const struct peer *peer)
{
    bool wanted = !sampler_filtered(peer->watch->sampler);
    if (wanted == peer->watch->wanted)
        return;
    peer->watch->wanted = wanted;
    for (struct queue *q = peer->program->queues; q; q = q->next)
        want_usage(q, wanted);
}

void watching_queue(const struct peer *peer)
{
    if (peer->watch)
        want_usage(peer->program->queues, peer->watch->wanted);
}

static void sample(struct peer *peer, uint64_t now)
{
    struct out body = {0};
    size_t count;
    taker_enter(peer->server->taker);
    struct sampled_thread *threads = threads_of(peer, &count);
    look_whether_wanted(peer);
    taker_leave(peer->server->taker);
    if (sampler_take(peer->watch->sampler, now, threads, count, &body)) {
        taker_enter(peer->server->taker);
        journal_put(peer->run->taking,
                    &(struct chunk){.kind = MESSAGE_USAGE,
                                    .session = peer->program->session,
                                    .data = body.data,
                                    .size = (uint32_t)body.size},
                    1, false);
        taker_leave(peer->server->taker);
    }
    out_free(&body);
    free(threads);
}

#define LOOP_HERTZ 100u /* the loop looks at least so often (main.c) */

/* Until none is fast any more. */
static void on_pace(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct server *server = timer->data;
    bool fast = false;
    (void)events;
    watching_go_on(server);
    for (const struct peer *peer = server->peers; peer && !fast; peer = peer->next)
        fast = peer->watch && peer->watch->fast && !peer->closed;
    if (!fast)
        ev_timer_stop(loop, timer);
}

void watching_rate(struct peer *peer, unsigned hertz)
{
    struct server *server = peer->server;
    if (!peer->watch)
        return;
    sampler_rate(peer->watch->sampler, hertz);
    peer->watch->fast = hertz > LOOP_HERTZ;
    if (!peer->watch->fast || ev_is_active(&server->pace))
        return;
    ev_timer_init(&server->pace, on_pace, 0.001, 0.001);
    server->pace.data = server;
    ev_timer_start(server->loop, &server->pace);
}

void watching_go_on(struct server *server)
{
    uint64_t now = now_ns();
    for (struct peer *peer = server->peers; peer; peer = peer->next)
        if (peer->watch && peer->program && !peer->closed && !peer->ending &&
            sampler_due(peer->watch->sampler, now))
            sample(peer, now);
}

void watching_end(struct peer *peer)
{
    if (!peer->watch)
        return;
    if (peer->program)
        sample(peer, now_ns());
    sampler_free(peer->watch->sampler);
    free(peer->watch);
    peer->watch = NULL;
}
