#define _GNU_SOURCE
#include "server/connections/process_sampler.h"

#include "base/alloc.h"
#include "server/connections/run_journal.h"
#include "server/connections/event_server.h"
#include "server/eventloop/event_loop.h"
#include "server/osmetrics/counter_reader.h"
#include "server/osmetrics/usage_sampler.h"
#include "server/osmetrics/switch_reader.h"
#include "server/journal/capture.h"
#include "wire/profile_region.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define DOOR_NS 100000000u /* least interval between two holds of the capture lock */
#define USAGES_HELD 32u

struct process_sampler {
    struct usage_sampler *sampler;
    pid_t pid;
    struct switch_reader *switches; /* NULL: unavailable */
    struct counter_reader *counters; /* NULL: not requested */
    bool same_numbers; /* it has the numbers of processes and threads that we have */
    bool wanted; /* its queues have the request */
    struct sampled_thread *threads; /* as they were when the capture lock was last held */
    size_t thread_count;
    struct encoder usage[USAGES_HELD], switched, counted; /* not reported yet */
    size_t usage_count;
    uint64_t due_ns; /* when the capture lock is taken again */
    bool fast; /* more often than the loop looks by itself */
};

static void process_sampler_write_journal(struct connection *peer, unsigned kind,
                                          const struct encoder *body);

void process_sampler_start(struct server *server)
{
    server->switches_ready = switch_reader_keep_ready();
}

void process_sampler_stop(struct server *server)
{
    if (server->switches_ready >= 0)
        close(server->switches_ready);
    server->switches_ready = -1;
}

static void refuse_switches(struct connection *peer, const char *why)
{
    struct encoder body = {0};
    switch_reader_refused(why, &body);
    capture_lock(peer->server->taker);
    process_sampler_write_journal(peer, CHUNK_SWITCHES, &body);
    capture_unlock(peer->server->taker);
    encoder_free(&body);
}

static void begin_switches(struct connection *peer, pid_t pid)
{
    const char *why = "its threads have other numbers, in a PID namespace of its own";
    if (peer->watch->same_numbers)
        peer->watch->switches = switch_reader_new(pid, &why);
    if (!peer->watch->switches)
        refuse_switches(peer, why);
}

static bool process_sampler_is_connected(const void *context, pid_t pid)
{
    const struct server *server = context;
    for (const struct connection *peer = server->peers; peer; peer = peer->next)
        if (peer->watch && peer->watch->pid == pid)
            return true;
    return false;
}

/* Numbers of processes are translated into our name space, but for what a program says of
 * itself. */
void process_sampler_begin(struct connection *peer, uint32_t pid)
{
    struct ucred credentials = {0};
    socklen_t size = sizeof credentials;
    struct usage_sampler *sampler =
        getsockopt(peer->channel.fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0
            ? usage_sampler_new(credentials.pid)
            : NULL;
    if (!sampler) {
        refuse_switches(peer, "its process cannot be seen from there, as in a container");
        return;
    }
    peer->watch = xcalloc(1, sizeof *peer->watch);
    *peer->watch = (struct process_sampler){.sampler = sampler,
                                            .pid = credentials.pid,
                                            .same_numbers = (uint32_t)credentials.pid == pid &&
                                                            usage_sampler_same_numbers(sampler),
                                            .wanted = !usage_sampler_filtered(sampler)};
    usage_sampler_know_processes(sampler, process_sampler_is_connected, peer->server);
    begin_switches(peer, credentials.pid);
}

/* Returns the threads that have not ended; the caller frees them.  Must hold the capture lock. */
static struct sampled_thread *threads_of(const struct connection *peer, size_t *count)
{
    struct sampled_thread *threads = xcalloc(peer->program->queue_count + 1, sizeof *threads);
    *count = 0;
    for (const struct shared_queue *q = peer->program->queues; q; q = q->next)
        if (!q->done && *count < peer->program->queue_count)
            threads[(*count)++] = (struct sampled_thread){
                .code = q->head->thread,
                .tid = peer->watch->same_numbers ? (pid_t)q->head->tid : 0,
                .futex_word = atomic_load_explicit(&q->head->futex_word, memory_order_relaxed),
                .futex_site = atomic_load_explicit(&q->head->futex_site, memory_order_relaxed),
                .futex_library =
                    atomic_load_explicit(&q->head->futex_library, memory_order_relaxed),
                .futex_once = atomic_load_explicit(&q->head->futex_once, memory_order_relaxed)};
    return threads;
}

/* Sets whether a thread reports its own usage at its end.  Must hold the capture lock. */
static void process_sampler_request_usage(struct shared_queue *queue, bool wanted)
{
    if (wanted)
        atomic_fetch_or_explicit(&queue->head->wanted, WANTED_USAGE, memory_order_relaxed);
    else
        atomic_fetch_and_explicit(&queue->head->wanted, ~WANTED_USAGE, memory_order_relaxed);
}

static void process_sampler_check_enabled(const struct connection *peer)
{
    bool wanted = !usage_sampler_filtered(peer->watch->sampler);
    if (wanted == peer->watch->wanted)
        return;
    peer->watch->wanted = wanted;
    for (struct shared_queue *q = peer->program->queues; q; q = q->next)
        process_sampler_request_usage(q, wanted);
}

/* Counts for the thread of a queue that requests it, and for its process. */
static void process_sampler_count(struct process_sampler *w, struct queue_head *queue)
{
    if (!(atomic_load_explicit(&queue->wanted, memory_order_relaxed) & WANTED_COUNTERS))
        return;
    if (!w->counters)
        w->counters = counter_reader_new(w->pid);
    if (w->same_numbers)
        counter_reader_thread(w->counters, (pid_t)queue->tid, queue->thread);
    atomic_fetch_or_explicit(&queue->wanted, WANTED_COUNTING, memory_order_relaxed);
}

void process_sampler_queue(const struct connection *peer)
{
    const struct shared_queue *queue = peer->program->queues;
    if (!peer->watch)
        return;
    process_sampler_request_usage(peer->program->queues, peer->watch->wanted);
    if (peer->watch->switches)
        switch_reader_thread(peer->watch->switches, (pid_t)queue->head->tid, queue->head->thread);
    process_sampler_count(peer->watch, queue->head);
    peer->watch->due_ns = 0;
}

/* Must hold the capture lock. */
static void process_sampler_write_journal(struct connection *peer, unsigned kind,
                                          const struct encoder *body)
{
    if (body->size && !body->failed)
        journal_append(run_journal_capture(peer->run),
                       &(struct chunk){.kind = (uint16_t)kind,
                                       .session = peer->program->session,
                                       .data = body->data,
                                       .size = (uint32_t)body->size},
                       1, false);
}

/* Tells what was held back, and learns what threads there are now. */
static void process_sampler_lock_capture(struct connection *peer, uint64_t now)
{
    struct process_sampler *w = peer->watch;
    capture_lock(peer->server->taker);
    for (size_t i = 0; i < w->usage_count; i++)
        process_sampler_write_journal(peer, MESSAGE_USAGE, &w->usage[i]);
    process_sampler_write_journal(peer, CHUNK_SWITCHES, &w->switched);
    process_sampler_write_journal(peer, MESSAGE_USAGE, &w->counted);
    free(w->threads);
    w->threads = threads_of(peer, &w->thread_count);
    process_sampler_check_enabled(peer);
    capture_unlock(peer->server->taker);
    for (size_t i = 0; i < w->usage_count; i++)
        encoder_free(&w->usage[i]);
    encoder_free(&w->switched);
    encoder_free(&w->counted);
    w->switched = w->counted = (struct encoder){0};
    w->usage_count = 0;
    w->due_ns = now + DOOR_NS;
    for (size_t i = 0; w->switches && i < w->thread_count; i++)
        switch_reader_thread(w->switches, w->threads[i].tid, w->threads[i].code);
    for (size_t i = 0; w->counters && i < w->thread_count; i++)
        counter_reader_thread(w->counters, w->threads[i].tid, w->threads[i].code);
}

static void process_sampler_take_sample(struct connection *peer, uint64_t now)
{
    struct process_sampler *w = peer->watch;
    struct encoder *bodies = &w->usage[w->usage_count];
    memset(bodies, 0, SAMPLER_BODIES * sizeof *bodies);
    usage_sampler_sample(w->sampler, now, w->threads, w->thread_count, bodies);
    w->usage_count += SAMPLER_BODIES;
}

static void process_sampler_poll(struct connection *peer, uint64_t now)
{
    struct process_sampler *w = peer->watch;
    if (w->switches)
        switch_reader_poll(w->switches);
    if (now >= w->due_ns || w->usage_count + SAMPLER_BODIES > USAGES_HELD) {
        if (w->switches)
            switch_reader_read(w->switches, false, &w->switched);
        if (w->counters)
            counter_reader_read(w->counters, now, false, &w->counted);
        process_sampler_lock_capture(peer, now);
    }
    if (usage_sampler_due(w->sampler, now))
        process_sampler_take_sample(peer, now);
}

/* Reports all remaining samples. */
static void process_sampler_poll_last(struct connection *peer)
{
    struct process_sampler *w = peer->watch;
    process_sampler_lock_capture(peer, loop_monotonic_ns());
    process_sampler_take_sample(peer, loop_monotonic_ns());
    if (w->switches)
        switch_reader_read(w->switches, true, &w->switched);
    if (w->counters)
        counter_reader_read(w->counters, loop_monotonic_ns(), true, &w->counted);
    process_sampler_lock_capture(peer, loop_monotonic_ns());
}

#define LOOP_HERTZ 100u /* the loop looks at least so often (main.c) */

/* Until none is fast any more. */
static void process_sampler_on_interval(struct ev_loop *loop, ev_timer *timer, int events)
{
    struct server *server = timer->data;
    bool fast = false;
    (void)events;
    process_sampler_step(server);
    for (const struct connection *peer = server->peers; peer && !fast; peer = peer->next)
        fast = peer->watch && peer->watch->fast && !peer->closed;
    if (!fast)
        ev_timer_stop(loop, timer);
}

void process_sampler_rate(struct connection *peer, unsigned hertz)
{
    struct server *server = peer->server;
    if (!peer->watch)
        return;
    usage_sampler_rate(peer->watch->sampler, hertz);
    peer->watch->fast = hertz > LOOP_HERTZ;
    if (!peer->watch->fast || ev_is_active(&server->pace))
        return;
    ev_timer_init(&server->pace, process_sampler_on_interval, 0.001, 0.001);
    server->pace.data = server;
    ev_timer_start(server->loop, &server->pace);
}

void process_sampler_step(struct server *server)
{
    uint64_t now = loop_monotonic_ns();
    for (struct connection *peer = server->peers; peer; peer = peer->next)
        if (peer->watch && peer->program && !peer->closed && !peer->ending)
            process_sampler_poll(peer, now);
}

void process_sampler_end(struct connection *peer)
{
    if (!peer->watch)
        return;
    if (peer->program)
        process_sampler_poll_last(peer);
    free(peer->watch->threads);
    switch_reader_free(peer->watch->switches);
    counter_reader_free(peer->watch->counters);
    usage_sampler_free(peer->watch->sampler);
    free(peer->watch);
    peer->watch = NULL;
}
