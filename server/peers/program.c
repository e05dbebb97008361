/* Programs: their shared queues, and what goes to the journal before it is believed. */
#define _GNU_SOURCE
#include "server/intake/losses.h"
#include "server/loop/log.h"
#include "server/file/rest.h"
#include "server/file/saving.h"
#include "server/intake/queue.h"
#include "server/peers/server.h"
#include "server/loop/turn.h"
#include "wire/counters.h"
#include "wire/limits.h"
#include "wire/told.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

static void journal(struct peer *peer, unsigned kind, uint32_t thread, const void *data, size_t size)
{
    tracefile_append(session_run(peer->session)->trace,
                   (struct chunk){.kind = (uint16_t)kind,
                                  .session = session_number(peer->session),
                                  .thread = thread,
                                  .data = data,
                                  .size = (uint32_t)size});
}

/* What says how it ends.  It fits on a full disk, too. */
static void journal_last(struct peer *peer, unsigned kind, const void *data, size_t size)
{
    tracefile_append_last(session_run(peer->session)->trace,
                          (struct chunk){.kind = (uint16_t)kind,
                                         .session = session_number(peer->session),
                                         .data = data,
                                         .size = (uint32_t)size});
}

static void flush_last(struct run *run)
{
    if (!tracefile_flush_last(run->trace))
        log_line("%s: %s: how a program ended is not in it", run->file, strerror(errno));
}

static bool flush(struct run *run)
{
    uint64_t bytes = tracefile_unflushed(run->trace);
    if (tracefile_flush(run->trace)) {
        /* A few bytes may fit where a batch did not. */
        if (run->unwritten && tracefile_room(run->trace) >= run->unwritten) {
            log_line("%s: there is room again", run->file);
            run->unwritten = 0;
        }
        return true;
    }
    if (!run->unwritten)
        log_line("%s: %s: nothing more is taken until there is room; what was taken is kept",
                 run->file, strerror(errno));
    run->unwritten = bytes;
    return false;
}

static void describe(struct peer *peer, const char *name)
{
    struct out out = {0};
    put_told_describe(&out, &(struct told_describe){text_of(name)});
    const char *error;
    journal(peer, MESSAGE_DESCRIBE, 0, out.data, out.size);
    session_message(peer->session, MESSAGE_DESCRIBE, 0, out.data, out.size, &error);
    out_free(&out);
}

bool program_hello(struct peer *peer, const uint8_t *body, size_t size, struct hello *hello)
{
    char why[512];
    struct run *run = runs_find(&peer->server->runs, hello->run, why, sizeof why);
    if (!run) {
        peer_refuse(peer, "%s", why);
        return false;
    }
    const char *program = strrchr(hello->path, '/');
    snprintf(peer->name, sizeof peer->name, "%.40s[%u]", program ? program + 1 : hello->path,
             hello->pid);
    char environment[256];
    snprintf(environment, sizeof environment, "%s", hello->environment);
    peer->run = run;
    run->finished = run->ending = false;
    runs_asked(&peer->server->runs, run);
    tracefile_lock(run->trace, true);
    peer->session = session_new(run, (uint32_t)run->process_count, hello);
    if (!peer->session) {
        peer_refuse(peer, "out of memory");
        return false;
    }
    journal(peer, CHUNK_SESSION, 0, body, size);
    run_fact(run, (struct chunk){.kind = CHUNK_SESSION, .session = session_number(peer->session),
                                  .data = body, .size = (uint32_t)size});
    describe(peer, environment);
    if (!flush(run)) {
        peer_refuse(peer, "%s: %s", run->file, strerror(errno));
        return false;
    }
    return true;
}

/* The counters of the run; -1: there are none. */
static int counters_of(struct run *run)
{
    if (run->counters)
        return run->counters;
    int fd = memfd_create("poet-counters", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && (ftruncate(fd, COUNTERS_BYTES) < 0 ||
                    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)) {
        close(fd);
        fd = -1;
    }
    return run->counters = fd;
}

/* Sends what waits to be sent, the WELCOME, with the descriptor of the counters.  What does not go
 * out here goes out later, without it. */
void program_welcome(struct peer *peer)
{
    int fd = counters_of(peer->run);
    struct iovec iov = {peer->out.data, peer->out.size};
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct msghdr message = {.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *c = CMSG_FIRSTHDR(&message);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    ssize_t n = fd >= 0 ? sendmsg(peer->fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT) : -1;
    out_drop(&peer->out, n > 0 ? (size_t)n : 0);
}

/* ---- emptying queues ---- */

/* What the threads count themselves. */
static void note_figures(const struct peer *peer)
{
    uint64_t waited = peer->waited_ns, dropped = peer->dropped, unfollowed = peer->unfollowed;
    for (const struct queue *q = peer->queues; q; q = q->next) {
        waited += q->waited_ns;
        dropped += q->dropped;
        unfollowed += q->unfollowed;
    }
    struct run_process *process = session_process(peer->session);
    process->waited_ns = waited > process->waited_ns ? waited : process->waited_ns;
    process->dropped = dropped > process->dropped ? dropped : process->dropped;
    process->unfollowed = unfollowed > process->unfollowed ? unfollowed : process->unfollowed;
}

/* Tells what was journalled and gives the room back.  Returns an error or NULL. */
static const char *tell_batches(struct peer *peer, size_t *told)
{
    const char *error = NULL;
    for (struct queue *q = peer->queues; q; q = q->next) {
        if (q->batch_count && !error) {
            session_batch(peer->session, q->batch_epoch, false);
            session_slots(peer->session, q->thread, q->batch, q->batch_count, &error);
        }
        *told += q->batch_count;
        q->tail += q->batch_count;
        if (q->batch_count)
            queue_give_room(q);
        q->batch_count = 0;
    }
    note_figures(peer);
    return error;
}

static void drop_done(struct peer *peer)
{
    for (struct queue **at = &peer->queues, *q; (q = *at) != NULL;) {
        if (q->done && q->tail == atomic_load(&q->head->head)) {
            *at = q->next;
            peer->queue_count--;
            peer->server->queue_count--;
            peer->waited_ns += q->waited_ns;
            peer->dropped += q->dropped;
            peer->unfollowed += q->unfollowed;
            queue_free(q);
        } else {
            at = &q->next;
        }
    }
}

/* Descriptions go into the file before the events that need them: whoever reads it again must know
 * them by then. */
static void describe_first(struct peer *peer, const struct slot *slots, size_t count)
{
    const char *error; /* said when its turn comes */
    for (size_t i = 0, size; (size = slots_next(slots + i, count - i)) != 0; i += size)
        if (slots[i].shape == SHAPE_CONTROL && slots[i].flags == MESSAGE_DESCRIBE)
            session_message(peer->session, MESSAGE_DESCRIBE, 0, (const uint8_t *)&slots[i + 1],
                           slots[i].payload_bytes, &error);
}

#define ROUND_SLOTS 16384u /* of all queues of a program together: some milliseconds */
#define ROUND_LEAST 64u    /* of one of them */
#define LOOKS 1000u        /* of an order, between two looks at the clock */

/* Works off what telling has set going; true if all of it is done before the time is over. */
static bool go_on(struct run *run, struct share share)
{
    bool left = run->leaving > 0, all;
    while (!(all = run_go_on(run, LOOKS)) && share_left(share))
        ;
    run->ending |= all && left && run->connected == 0;
    if (all && run->ending)
        all = run_finished(run, share);
    return all;
}

/* What is told of a program beside its events, as LOSSES. */
static struct out figures_of(const struct run_process *process)
{
    struct out out = {0};
    put_told_losses(&out, &(struct told_losses){process->waited_ns, process->dropped, process->unfollowed,
                                                process->left, process->left_told});
    return out;
}

/* What was not followed is a reason to doubt answers: it must outlive the server, if roughly. */
static void note_unfollowed(struct peer *peer)
{
    uint64_t now = session_process(peer->session)->unfollowed;
    if (now < 2 * peer->journalled + 1)
        return;
    peer->journalled = now;
    struct out gap = figures_of(session_process(peer->session));
    journal(peer, MESSAGE_LOSSES, 0, gap.data, gap.size);
    out_free(&gap);
    flush(session_run(peer->session));
}

static const char too_much_waits[] = "more events wait for others, which never came, than there is memory for";

/* One round over the queues of one program: copy, journal, tell. */
static const char *drain(struct peer *peer, size_t *told)
{
    struct run *run = session_run(peer->session);
    size_t before = *told;
    bool any = false;
    size_t most = ROUND_SLOTS / (peer->queue_count ? peer->queue_count : 1);
    for (struct queue *q = peer->queues; q; q = q->next) {
        if (!queue_copy(q, &peer->server->ticks, most > ROUND_LEAST ? most : ROUND_LEAST))
            return "a queue that contradicts itself";
        if (q->batch_count) {
            describe_first(peer, q->batch, q->batch_count);
            journal(peer, MESSAGE_SLOTS, q->thread, q->batch, q->batch_count * SLOT_BYTES);
            q->batch_epoch = tracefile_epoch(run->trace); /* the next batch may open another region */
            any = true;
        }
    }
    if (any && !flush(run)) {
        for (struct queue *q = peer->queues; q; q = q->next) {
            q->batch_count = 0;
            q->behind = false; /* the next round is no use before there is room; who hung up has none */
        }
        return NULL;
    }
    const char *error = tell_batches(peer, told);
    note_unfollowed(peer);
    drop_done(peer);
    saving_poll(run);
    return error || *told == before || !run_waits_too_much(run) ? error : too_much_waits;
}

static bool is_behind(const struct peer *peer)
{
    const struct queue *q = peer->queues;
    while (q && !q->behind)
        q = q->next;
    return q && !peer->ending;
}

#define RETIRED_IN_A_TURN 1000u /* unmapping takes microseconds */

static bool free_retired(struct server *server, size_t most)
{
    for (; server->retired && most--; server->queue_count--) {
        struct queue *queue = server->retired;
        server->retired = queue->next;
        queue_free(queue);
    }
    return !server->retired;
}

/* A program that hung up stays until all that the others had said by then has been told: lines that
 * it has with them must not look as if nobody numbered them any more. */
static void drop_closed(struct server *server)
{
    for (struct peer *peer = server->peers, *next; peer; peer = next) {
        next = peer->next;
        if (peer->session && peer->closed && !is_behind(peer) && peer->closed++ >= 2)
            peer_hung_up(peer);
    }
}

/* The next round of one program; true if there is more. */
static bool poll_one(struct peer *peer, struct share share)
{
    size_t told = 0;
    struct run *run = session_run(peer->session);
    const char *error = drain(peer, &told);
    if (error)
        peer_refuse(peer, "%s", error);
    go_on(run, share);
    return !error && is_behind(peer);
}

static struct peer *after(const struct server *server, const struct peer *peer)
{
    return peer && peer->next ? peer->next : server->peers;
}

/* Rounds over all programs, from the one whose turn it is, until nothing is left or the time is over. */
static bool poll_rounds(struct server *server, struct share share)
{
    size_t quiet = 0, count = 0; /* quiet: so many had no more, one after the other */
    for (struct peer *peer = server->peers; peer; peer = peer->next)
        count++;
    struct peer *peer = server->turn_of ? server->turn_of : server->peers;
    for (; quiet < count && share_left(share); peer = after(server, peer)) {
        bool reads = peer->session && !peer->ending && !peer->unread;
        quiet = reads && poll_one(peer, share) ? 0 : quiet + 1;
    }
    server->turn_of = peer;
    return quiet >= count;
}

void program_poll(struct server *server)
{
    struct share share = share_of(TURN_POLL_NS);
    turn_doing("queues");
    bool all = poll_rounds(server, share);
    turn_doing("what was put off");
    for (size_t i = 0; i < server->runs.count; i++)
        all &= !server->runs.items[i]->live || go_on(server->runs.items[i], share);
    turn_doing("states of runs");
    struct share saves = share_of(TURN_SAVE_NS);
    for (size_t i = 0; i < server->runs.count; i++)
        all &= !server->runs.items[i]->live || saving_go_on(server->runs.items[i], saves);
    turn_doing("hang-ups");
    drop_closed(server);
    for (struct peer *peer = server->peers; peer && all; peer = peer->next)
        all = !peer->unread;
    all &= free_retired(server, RETIRED_IN_A_TURN);
    server->behind = !all;
}

static bool socket_slots(struct peer *peer, const uint8_t *body, size_t size, const char **error)
{
    struct in in = in_from(body, size);
    uint32_t thread = get_u32(&in);
    if (in.error || in_left(&in) % SLOT_BYTES) {
        *error = "SLOTS of a broken size";
        return false;
    }
    size_t bytes = in_left(&in);
    struct slot *slots = malloc(bytes + 1); /* aligned, unlike the message */
    if (!slots)
        abort();
    memcpy(slots, body + 4, bytes);
    describe_first(peer, slots, bytes / SLOT_BYTES);
    journal(peer, MESSAGE_SLOTS, thread, slots, bytes);
    session_batch(peer->session, tracefile_epoch(peer->run->trace), false);
    peer->stalled = !flush(peer->run);
    bool ok = peer->stalled || session_slots(peer->session, thread, slots, bytes / SLOT_BYTES, error);
    free(slots);
    if (ok && !peer->stalled && run_waits_too_much(peer->run)) {
        *error = too_much_waits;
        return false;
    }
    return ok;
}

/* Each queue is a mapping, of which the system gives the server so many: one program has at most half of
 * those that others have not. */
static const char *add_queue(struct peer *peer, int fd, uint32_t slots)
{
    struct server *server = peer->server;
    size_t others = server->queue_count - peer->queue_count,
           most = server->mappings > others ? (server->mappings - others) / 2 : 0;
    if (peer->queue_count >= most)
        return "more threads at once than one program may have here (see /proc/sys/vm/max_map_count)";
    const char *error = queue_add(&peer->queues, fd, slots);
    peer->queue_count += !error;
    server->queue_count += !error;
    return error;
}

bool program_message(struct peer *peer, unsigned type, const uint8_t *body, size_t size)
{
    const char *error = NULL;
    bool ok = true;
    struct in in = in_from(body, size);
    if (type == MESSAGE_WAKE) {
        peer->woken = true; /* many may come at once */
    } else if (type == MESSAGE_THREAD) {
        struct told_thread told;
        int fd = peer_take_descriptor(peer);
        error = !get_told_thread(&in, &told) ? in.error
                : fd < 0                     ? "a queue without a descriptor"
                                             : add_queue(peer, fd, told.slots);
        if (fd >= 0)
            close(fd);
        ok = error == NULL;
    } else if (type == MESSAGE_SLOTS) {
        ok = socket_slots(peer, body, size, &error);
    } else {
        journal(peer, type, 0, body, size);
        peer->stalled = !flush(peer->run);
        ok = peer->stalled || session_message(peer->session, type, 0, body, size, &error);
    }
    if (!ok)
        peer_refuse(peer, "%s: %s", message_name(type), error);
    return true;
}

void program_woken(struct peer *peer)
{
    peer->woken = false;
    if (turn_may_read())
        poll_one(peer, share_of(TURN_READ_NS));
}

static void end_of(struct run *run)
{
    tracefile_append_last(run->trace, (struct chunk){.kind = CHUNK_END});
    flush_last(run);
    tracefile_lock(run->trace, false);
}

bool run_finished(struct run *run, struct share share)
{
    if (!run->live)
        return true;
    if (!saving_finish(run, share))
        return false;
    end_of(run);
    run->finished = true;
    run->ending = false;
    return true;
}

/* What it left behind in its queues; not for ever where it was refused, or the server is to end. */
static void drain_last(struct peer *peer)
{
    struct share share = peer->server->stopping ? peer->server->last : share_of(TURN_POLL_NS);
    size_t told;
    do
        told = 0;
    while (!drain(peer, &told) && told && share_left(share));
}

/* What it left behind in its queues and there is no room for. */
static void count_untaken(struct peer *peer, struct losses *losses)
{
    for (struct queue *q = peer->queues; q; q = q->next) {
        uint64_t taken = 0;
        q->batch_count = 0;
        while (taken < q->slots && queue_copy(q, &peer->server->ticks, SIZE_MAX) && q->batch_count) {
            losses_add(losses, peer->session, q->batch, q->batch_count);
            q->tail += q->batch_count;
            taken += q->batch_count;
        }
    }
}

/* What it sent and there is no room for. */
static void count_unread(struct peer *peer, struct losses *losses)
{
    size_t used = 0, length;
    unsigned type;
    const char *error;
    peer_read_rest(peer);
    while (frame_read(peer->in.data + used, peer->in.size - used, LIMIT_MESSAGE_BYTES, &type, &length,
                      &error) > 0) {
        const uint8_t *body = peer->in.data + used + MESSAGE_FRAME_BYTES;
        used += MESSAGE_FRAME_BYTES + length;
        struct slot *slots = malloc(length + 1); /* for its alignment */
        if (!slots)
            abort();
        if (type == MESSAGE_SLOTS && length >= 4) {
            memcpy(slots, body + 4, length - 4);
            losses_add(losses, peer->session, slots, (length - 4) / SLOT_BYTES);
        } else if (type == MESSAGE_LOSSES) {
            session_message(peer->session, type, 0, body, length, &error);
        }
        free(slots);
    }
}

/* Says which numbers will never come, as far as there is room to say it; the others are counted. */
static void tell_losses(struct peer *peer, struct losses *losses)
{
    struct run_process *process = session_process(peer->session);
    uint64_t room = tracefile_last_room(session_run(peer->session)->trace) / 2;
    losses_merge(losses);
    for (size_t i = 0; i < losses->count; i++) {
        const struct loss *loss = &losses->items[i];
        struct out out = {0};
        const char *error;
        put_told_lost(&out, &(struct told_lost){loss->line, loss->first, loss->count});
        if (out.size + CHUNK_HEAD_BYTES <= room) {
            room -= out.size + CHUNK_HEAD_BYTES;
            process->left_told += loss->dropped ? 0 : loss->count;
            journal_last(peer, MESSAGE_LOST, out.data, out.size);
            session_message(peer->session, MESSAGE_LOST, 0, out.data, out.size, &error);
        }
        out_free(&out);
    }
    process->left += losses->events;
    if (losses->events)
        log_line("%s: %llu events of %s are lost: there was no room or no time for them", session_run(peer->session)->file,
                 (unsigned long long)losses->events, peer->name);
}

static void tell_gap(struct peer *peer)
{
    struct run *run = session_run(peer->session);
    struct out gap = figures_of(session_process(peer->session));
    journal_last(peer, MESSAGE_LOSSES, gap.data, gap.size);
    run_fact(run, (struct chunk){.kind = MESSAGE_LOSSES, .session = session_number(peer->session),
                                  .data = gap.data, .size = (uint32_t)gap.size});
    out_free(&gap);
}

void program_gone(struct peer *peer)
{
    struct run *run = session_run(peer->session);
    struct losses losses = {0};
    drain_last(peer);
    count_untaken(peer, &losses);
    if (peer->stalled)
        count_unread(peer, &losses);
    note_figures(peer);
    if (losses.events)
        losses_add_held(&losses, peer->session);
    tell_losses(peer, &losses);
    losses_free(&losses);
    while (peer->queues) {
        struct queue *queue = peer->queues;
        peer->queues = queue->next;
        queue->next = peer->server->retired;
        peer->server->retired = queue;
    }
    peer->queue_count = 0;
    tell_gap(peer);
    journal_last(peer, CHUNK_HANGUP, NULL, 0);
    flush_last(run);
    run_fact(run, (struct chunk){.kind = CHUNK_HANGUP,
                                    .session = session_number(peer->session)});
    session_hangup(peer->session);
    peer->session = NULL;
    peer->server->behind = true;
    ev_idle_start(peer->server->loop, &peer->server->work);
}

void program_finish(struct server *server)
{
    do
        program_poll(server);
    while (server->behind && share_left(server->last));
    while (server->peers)
        peer_drop(server->peers, NULL);
    free_retired(server, SIZE_MAX);
    for (size_t i = 0; i < server->runs.count; i++) {
        struct run *run = server->runs.items[i];
        if (run->live && (run->leaving || run->ending) && !go_on(run, server->last))
            end_of(run); /* whoever reads the file does the rest */
    }
}
