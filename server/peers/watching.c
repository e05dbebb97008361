#define _GNU_SOURCE
#include "server/peers/watching.h"

#include "memory/memory.h"
#include "server/peers/server.h"
#include "server/sampling/sampler.h"
#include "server/sampling/switches.h"
#include "server/taking/taking.h"
#include "wire/region.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define DOOR_NS 100000000u /* who takes from queues is disturbed no more often */
#define USAGES_HELD 32u

struct watch {
    struct sampler *sampler;
    struct switches *switches; /* NULL: nobody tells them */
    bool same_numbers; /* it has the numbers of processes and threads that we have */
    bool wanted; /* its queues were told so */
    struct sampled_thread *threads; /* as they were when the door was entered last */
    size_t thread_count;
    struct out usage[USAGES_HELD], switched; /* not told yet */
    size_t usage_count;
    uint64_t due_ns; /* the door is entered again */
    bool fast; /* more often than the loop looks by itself */
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void tell(struct peer *peer, unsigned kind, const struct out *body);

static void refuse_switches(struct peer *peer, const char *why)
{
    struct out body = {0};
    switches_refused(why, &body);
    taker_enter(peer->server->taker);
    tell(peer, CHUNK_SWITCHES, &body);
    taker_leave(peer->server->taker);
    out_free(&body);
}

static void begin_switches(struct peer *peer, pid_t pid)
{
    const char *why = "its threads have other numbers, in a PID namespace of its own";
    if (peer->watch->same_numbers)
        peer->watch->switches = switches_new(pid, &why);
    if (!peer->watch->switches)
        refuse_switches(peer, why);
}

/* Numbers of processes are translated into our name space, but for what a program says of itself. */
void watching_begin(struct peer *peer, uint32_t pid)
{
    struct ucred who = {0};
    socklen_t size = sizeof who;
    struct sampler *sampler =
        getsockopt(peer->channel.fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0
            ? sampler_new(who.pid)
            : NULL;
    if (!sampler) {
        refuse_switches(peer, "its process cannot be seen from there, as in a container");
        return;
    }
    peer->watch = memory_zeroed(1, sizeof *peer->watch);
    *peer->watch =
        (struct watch){.sampler = sampler,
                       .same_numbers = (uint32_t)who.pid == pid && sampler_same_numbers(sampler),
                       .wanted = !sampler_filtered(sampler)};
    begin_switches(peer, who.pid);
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
    const struct queue *queue = peer->program->queues;
    if (!peer->watch)
        return;
    want_usage(peer->program->queues, peer->watch->wanted);
    if (peer->watch->switches)
        switches_thread(peer->watch->switches, (pid_t)queue->head->tid, queue->head->thread);
    peer->watch->due_ns = 0;
}

/* In the door. */
static void tell(struct peer *peer, unsigned kind, const struct out *body)
{
    if (body->size && !body->failed)
        journal_put(peer->run->taking,
                    &(struct chunk){.kind = (uint16_t)kind,
                                    .session = peer->program->session,
                                    .data = body->data,
                                    .size = (uint32_t)body->size},
                    1, false);
}

/* Tells what was held back, and learns what threads there are now. */
static void enter_door(struct peer *peer, uint64_t now)
{
    struct watch *w = peer->watch;
    taker_enter(peer->server->taker);
    for (size_t i = 0; i < w->usage_count; i++)
        tell(peer, MESSAGE_USAGE, &w->usage[i]);
    tell(peer, CHUNK_SWITCHES, &w->switched);
    free(w->threads);
    w->threads = threads_of(peer, &w->thread_count);
    look_whether_wanted(peer);
    taker_leave(peer->server->taker);
    for (size_t i = 0; i < w->usage_count; i++)
        out_free(&w->usage[i]);
    out_free(&w->switched);
    w->switched = (struct out){0};
    w->usage_count = 0;
    w->due_ns = now + DOOR_NS;
    for (size_t i = 0; w->switches && i < w->thread_count; i++)
        switches_thread(w->switches, w->threads[i].tid, w->threads[i].code);
}

static void sample(struct peer *peer, uint64_t now)
{
    struct watch *w = peer->watch;
    struct out *bodies = &w->usage[w->usage_count];
    memset(bodies, 0, SAMPLER_BODIES * sizeof *bodies);
    sampler_take(w->sampler, now, w->threads, w->thread_count, bodies);
    w->usage_count += SAMPLER_BODIES;
}

static void look(struct peer *peer, uint64_t now)
{
    struct watch *w = peer->watch;
    if (w->switches)
        switches_look(w->switches);
    if (now >= w->due_ns || w->usage_count + SAMPLER_BODIES > USAGES_HELD) {
        if (w->switches)
            switches_read(w->switches, false, &w->switched);
        enter_door(peer, now);
    }
    if (sampler_due(w->sampler, now))
        sample(peer, now);
}

/* All that there is to tell. */
static void look_last(struct peer *peer)
{
    struct watch *w = peer->watch;
    enter_door(peer, now_ns());
    sample(peer, now_ns());
    if (w->switches)
        switches_read(w->switches, true, &w->switched);
    enter_door(peer, now_ns());
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
        if (peer->watch && peer->program && !peer->closed && !peer->ending)
            look(peer, now);
}

void watching_end(struct peer *peer)
{
    if (!peer->watch)
        return;
    if (peer->program)
        look_last(peer);
    free(peer->watch->threads);
    switches_free(peer->watch->switches);
    sampler_free(peer->watch->sampler);
    free(peer->watch);
    peer->watch = NULL;
}
