#define _GNU_SOURCE
#include "server/connections/program_connection.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "server/checkpoint/checkpoint_write.h"
#include "server/connections/agent_connection.h"
#include "server/connections/event_server.h"
#include "server/connections/shared_memory.h"
#include "server/connections/journal_reader.h"
#include "server/connections/measurement_settings.h"
#include "server/connections/process_sampler.h"
#include "server/connections/run_journal.h"
#include "server/decode/loss_records.h"
#include "server/decode/shared_queue.h"
#include "server/eventloop/event_loop.h"
#include "server/journal/capture.h"
#include "wire/limits.h"
#include "wire/program_messages.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

static struct capture_thread *program_connection_lock_capture(const struct connection *peer)
{
    capture_lock(peer->server->taker);
    return peer->server->taker;
}

/* Must hold the capture lock. */
static bool program_connection_write_journal(struct connection *peer, unsigned kind,
                                             uint32_t thread, const void *data, size_t size,
                                             bool last)
{
    return journal_append(run_journal_capture(peer->run),
                          &(struct chunk){.kind = (uint16_t)kind,
                                          .session = peer->program->session,
                                          .thread = thread,
                                          .data = data,
                                          .size = (uint32_t)size},
                          1, last);
}

/* ---- what was taken ---- */

/* Adds up the counters that the threads keep in their queues. */
static void note_figures(const struct connection *peer)
{
    const struct run *run = peer->run;
    if (peer->program->session >= run->processes.count)
        return; /* it was not delivered yet */
    struct run_process *process = &run->processes.items[peer->program->session];
    uint64_t *reported[] = {&process->waited_ns, &process->dropped, &process->unfollowed};
    for (size_t i = 0; i < 3; i++) {
        uint64_t figure = atomic_load(&peer->program->figures[i]);
        *reported[i] = figure > *reported[i] ? figure : *reported[i];
    }
}

/* Drops rejected programs. */
static void program_connection_poll_all(struct server *server)
{
    for (struct connection *peer = server->peers; peer; peer = peer->next) {
        const char *why = peer->program ? atomic_load(&peer->program->error) : NULL;
        if (peer->program)
            note_figures(peer);
        if (why && !peer->ending)
            connection_reject(peer, "%s", why);
        else if (peer->wrong && !peer->ending && peer->shares && peer->wrong_kind == MESSAGE_SLOTS)
            connection_reject(peer, "%s", peer->wrong);
        else if (peer->wrong && !peer->ending)
            connection_reject(peer, "%s: %s", message_name(peer->wrong_kind), peer->wrong);
    }
}

#define RETIRED_IN_A_TURN 1000u /* unmapping takes microseconds */

static bool free_retired(struct server *server, size_t most)
{
    for (; server->retired && most--; server->retired_count--) {
        struct shared_queue *queue = server->retired;
        server->retired = queue->next;
        shared_queue_free(queue);
    }
    return !server->retired;
}

/* Returns whether everything that a program left, and that the others had written by then, was
 * captured; of a child that was just forked the connection may not be accepted yet.  If the disk
 * is full, the number of lost events is known only after all earlier chunks were delivered. */
static bool may_leave(struct connection *peer)
{
    if (peer->closed == 1 && !connection_read_earlier(peer))
        return false;
    struct capture_thread *taker = program_connection_lock_capture(peer);
    if (peer->closed == 1)
        capture_set_target(taker, run_journal_capture(peer->run));
    enum poll_result taken = capture_poll_program(taker, peer->program);
    bool reached = capture_target_reached(taker, run_journal_capture(peer->run));
    bool full = taken == POLL_DISK_FULL || run_journal_capture(peer->run)->unwritten;
    capture_unlock(taker);
    peer->closed += peer->closed == 1;
    return taken != POLL_MORE && taken != POLL_AHEAD && reached &&
           (!full || journal_reader_is_done(peer->run));
}

/* Drops programs that hung up, each only after all that the others had written by then was
 * captured: lines that it shares with them must not look as if no program used them any more. */
static void drop_closed(struct server *server)
{
    for (struct connection *peer = server->peers, *next; peer; peer = next) {
        bool leaves = peer->program && peer->closed && may_leave(peer) && peer->closed++ >= 3;
        next = peer->next; /* only now: reading may have closed the next */
        if (leaves)
            connection_on_disconnect(peer);
    }
}

/* Reads the profiles of threads, which a viewer requested. */
static void read_wanted(struct server *server)
{
    for (struct connection *peer = server->peers; peer; peer = peer->next)
        if (peer->program && peer->run->contexts.wanted) {
            struct capture_thread *taker = program_connection_lock_capture(peer);
            capture_read_profiles(taker, peer->program, false);
            capture_unlock(taker);
            cell_sampler_now(peer);
        }
    for (size_t i = 0; i < server->runs.count; i++) {
        struct call_contexts *contexts = &server->runs.items[i]->contexts;
        contexts->taken += contexts->wanted;
        contexts->wanted = false;
    }
}

/* With POET_TEST_SAVE_STEP set, one step in a turn: what a loop comes to that gets little of the
 * processor. */
static struct loop_share saving_share(void)
{
    static int step = -1;
    if (step < 0)
        step = getenv("POET_TEST_SAVE_STEP") != NULL;
    return loop_share_new(step ? 0 : LOOP_TURN_SAVE_NS);
}

void program_connection_poll(struct server *server)
{
    loop_turn_set_activity("queues");
    if (!capture_thread_is_running(server->taker))
        capture_sync(server->taker, LOOP_TURN_POLL_NS);
    loop_turn_set_activity("what threads measure");
    read_wanted(server);
    measurement_settings_step(server);
    loop_turn_set_activity("the order");
    bool all = server->agent ? journal_forwarder_step(server, loop_share_new(LOOP_TURN_TELL_NS))
                             : journal_reader_step(server, loop_share_new(LOOP_TURN_TELL_NS),
                                                   loop_share_new(LOOP_TURN_LITTLE_NS));
    agent_connection_poll(server);
    stream_timeout_check(server);
    for (size_t i = 0; i < server->runs.count; i++)
        journal_reader_measure_lag(server->runs.items[i]);
    loop_turn_set_activity("parts that found no room");
    for (size_t i = 0; i < server->runs.count; i++)
        if (server->runs.items[i]->status.live)
            tracefile_sync(server->runs.items[i]->trace);
    loop_turn_set_activity("states of runs");
    struct loop_share saves = saving_share();
    for (size_t i = 0; i < server->runs.count; i++)
        all &= !server->runs.items[i]->status.live || checkpoint_step(server->runs.items[i], saves);
    loop_turn_set_activity("hang-ups");
    program_connection_poll_all(server);
    drop_closed(server);
    for (struct connection *peer = server->peers; peer && all; peer = peer->next)
        all = !peer->unread;
    all &= free_retired(server, RETIRED_IN_A_TURN);
    server->behind = !all;
    atomic_store(&server->asked_to_tell, !all);
    if (!all)
        ev_idle_start(server->loop, &server->work);
}

#define SETTLE_NS 3000000u

void program_connection_sync(struct server *server)
{
    loop_turn_set_activity("queues");
    capture_sync(server->taker, SETTLE_NS);
    program_connection_poll(server);
}

/* ---- messages ---- */

static bool socket_slots(struct connection *peer, const uint8_t *body, size_t size,
                         const char **why)
{
    struct decoder in = decoder_init(body, size);
    uint32_t thread = decode_u32(&in);
    if (in.error || decoder_remaining(&in) % SLOT_BYTES) {
        *why = "SLOTS of a broken size";
        return false;
    }
    size_t bytes = decoder_remaining(&in);
    struct ring_slot *slots = xmalloc(bytes + 1); /* aligned, unlike the message */
    memcpy(slots, body + 4, bytes);
    struct capture_thread *taker = program_connection_lock_capture(peer);
    peer->stalled = !journal_append_slots(run_journal_capture(peer->run), peer->program->session,
                                          thread, slots, bytes / SLOT_BYTES);
    capture_unlock(taker);
    free(slots);
    return true;
}

/* Records a program's own report of dropped events, beside the counts of its queues.  Must hold
 * the capture lock. */
static void note_losses(const struct connection *peer, const uint8_t *body, size_t size)
{
    struct losses_message message;
    struct decoder in = decoder_init(body, size);
    if (!decode_losses(&in, &message))
        return;
    const uint64_t sums[] = {message.waited_ns, message.dropped, message.unfollowed};
    for (size_t i = 0; i < 3; i++)
        if (sums[i] > atomic_load(&peer->program->figures[i]))
            atomic_store(&peer->program->figures[i], sums[i]);
}

#define LOST_NS 100000000u /* once or a few times in the life of a program */

static void socket_message(struct connection *peer, unsigned type, const uint8_t *body, size_t size)
{
    struct decoder in = decoder_init(body, size);
    char *name = type == MESSAGE_DESCRIBE ? decode_name(&in, 256) : NULL;
    struct capture_thread *taker = program_connection_lock_capture(peer);
    struct loop_share share = loop_share_new(LOST_NS);
    while (type == MESSAGE_LOST && capture_poll_program(taker, peer->program) == POLL_MORE &&
           loop_share_left(share))
        ; /* the lines that it names were announced in the queues, before */
    peer->stalled = (name && decoder_finish(&in) &&
                     !journal_write_description(run_journal_capture(peer->run), name)) ||
                    !program_connection_write_journal(peer, type, 0, body, size, false);
    if (type == MESSAGE_LOSSES)
        note_losses(peer, body, size);
    else if (type == MESSAGE_METRIC)
        cell_sampler_named(peer, body, size);
    capture_unlock(taker);
    free(name);
}

/* Not while the order is too far behind. */
static enum readiness program_connection_readiness(struct connection *peer)
{
    return run_journal_capture(peer->run) && capture_is_ahead(run_journal_capture(peer->run))
               ? CONNECTION_READY_LATER
               : READY;
}

/* Writes files only for a program of this host, which could write them itself. */
static bool program_connection_request_report(struct connection *peer, struct decoder *in,
                                              const char **why)
{
    struct report_message message;
    int domain = 0;
    socklen_t size = sizeof domain;
    if (!decode_report(in, &message)) {
        *why = in->error;
        return false;
    }
    getsockopt(peer->channel.fd, SOL_SOCKET, SO_DOMAIN, &domain, &size);
    if (domain == AF_UNIX) {
        free(peer->run->report);
        peer->run->report = xstrndup(message.path.bytes, message.path.size);
    }
    return true;
}

static void program_connection_receive_message(struct connection *peer, unsigned type,
                                               const uint8_t *body, size_t size)
{
    const char *why = NULL;
    bool ok = true;
    struct decoder in = decoder_init(body, size);
    if (type == MESSAGE_WAKE) {
        peer->woken = true; /* many may come at once */
    } else if (shared_memory_receive(peer, type, &in, &why)) {
        ok = why == NULL;
        if (ok && type == MESSAGE_CARRIER)
            socket_message(peer, type, body, size); /* what it is called */
    } else if (type == MESSAGE_METRIC && measurement_option_receive(peer, body, size)) {
        loop_turn_set_activity("messages of programs");
    } else if (type == MESSAGE_REPORT) {
        ok = program_connection_request_report(peer, &in, &why);
    } else if (type == MESSAGE_SLOTS) {
        ok = socket_slots(peer, body, size, &why);
    } else if (type >= CHUNK_SESSION) {
        why = "is not a program message";
        ok = false;
    } else {
        socket_message(peer, type, body, size);
    }
    if (!ok)
        connection_reject(peer, "%s: %s", message_name(type), why);
}

static void was_read(struct connection *peer)
{
    if (!peer->woken)
        return;
    peer->woken = false;
    capture_thread_wake(peer->server->taker);
}

/* ---- the end ---- */

/* Captures what a program left in its queues, within a limited time if it was rejected or the
 * server is ending. */
static void drain_last(struct connection *peer)
{
    struct loop_share share =
        peer->server->stopping ? peer->server->last : loop_share_new(LOOP_TURN_POLL_NS);
    enum poll_result taken;
    do {
        struct capture_thread *taker = program_connection_lock_capture(peer);
        taken = capture_poll_program(taker, peer->program);
        capture_unlock(taker);
    } while (taken == POLL_MORE && loop_share_left(share));
}

/* Records the events that a program left in its queues and that the disk has no room for.  Must
 * hold the capture lock. */
static void program_connection_count_remaining(struct connection *peer,
                                               const struct program_session *session,
                                               struct loss_records *losses)
{
    struct ring_slot *slots = NULL;
    size_t room = 0;
    for (struct shared_queue *q = peer->program->queues; q && session; q = q->next) {
        uint64_t taken = 0;
        q->after = NULL;
        while (taken < q->slots && shared_queue_available(q) && q->there) {
            slots = array_reserve(slots, &room, q->there, SLOT_BYTES);
            unsigned ignored;
            size_t count =
                shared_queue_copy(q, slots,
                                  &(struct shared_queue_request){
                                      .most = q->there, .room = q->there, .horizon = UINT64_MAX},
                                  &ignored);
            loss_records_add(losses, session, slots, count);
            q->tail += count;
            taken += count;
        }
    }
    free(slots);
}

/* Counts the sent slots for which there is no room. */
static void count_unread(struct connection *peer, const struct program_session *session,
                         struct loss_records *losses)
{
    size_t used = 0, length;
    unsigned type;
    const char *why;
    connection_read_rest(peer);
    while (frame_read(peer->in.data + used, peer->in.size - used, LIMIT_MESSAGE_BYTES, &type,
                      &length, &why) > 0) {
        const uint8_t *body = peer->in.data + used + MESSAGE_FRAME_BYTES;
        used += MESSAGE_FRAME_BYTES + length;
        struct ring_slot *slots = xmalloc(length + 1); /* for its alignment */
        if (type == MESSAGE_SLOTS && length >= 4) {
            memcpy(slots, body + 4, length - 4);
            loss_records_add(losses, session, slots, (length - 4) / SLOT_BYTES);
        } else if (type == MESSAGE_LOSSES) {
            note_losses(peer, body, length);
        } else if (type == MESSAGE_SENT || type == MESSAGE_ENDS) {
            program_connection_write_journal(peer, type, 0, body, length, true);
        }
        free(slots);
    }
}

/* Journals the numbers that will never come, while there is room, and counts the others; returns
 * how many were journalled. */
static uint64_t program_connection_report_losses(struct connection *peer,
                                                 struct loss_records *losses)
{
    uint64_t journalled = 0, room = tracefile_last_room(peer->run->trace) / 2;
    loss_records_merge(losses);
    for (size_t i = 0; i < losses->count; i++) {
        const struct loss_record *loss = &losses->items[i];
        struct encoder out = {0};
        encode_lost(&out, &(struct lost_message){loss->line, loss->first, loss->count});
        if (out.size + CHUNK_HEAD_BYTES <= room) {
            room -= out.size + CHUNK_HEAD_BYTES;
            journalled += loss->dropped ? 0 : loss->count;
            program_connection_write_journal(peer, MESSAGE_LOST, 0, out.data, out.size, true);
        }
        encoder_free(&out);
    }
    return journalled;
}

/* left: events that were still in its queues, and could not be written. */
static void program_connection_log_losses(const struct connection *peer, uint64_t left)
{
    uint64_t lost = left + atomic_load(&peer->program->figures[1]);
    if (lost)
        server_log("%s: %llu events of %s lost (queue full)", peer->run->file.path,
                   (unsigned long long)lost, peer->name);
}

/* Writes a program's lost and untraced event counts to the journal. */
static void program_connection_report_gap(struct connection *peer, uint64_t left,
                                          uint64_t left_known)
{
    const _Atomic uint64_t *figures = peer->program->figures;
    struct encoder gap = {0};
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    encode_losses(&gap, &(struct losses_message){figures[0], figures[1], figures[2], left,
                                                 left_known, timespec_ns(now)});
    program_connection_write_journal(peer, MESSAGE_LOSSES, 0, gap.data, gap.size, true);
    encoder_free(&gap);
}

static struct program_session *session_of(const struct connection *peer)
{
    uint32_t number = peer->program->session;
    return number < peer->run->sessions.count ? peer->run->sessions.items[number] : NULL;
}

static void program_connection_on_disconnect(struct connection *peer)
{
    struct loss_records losses = {0};
    const struct program_session *session = session_of(peer);
    drain_last(peer);
    process_sampler_end(peer);
    shared_memory_end(peer);
    struct capture_thread *taker = program_connection_lock_capture(peer);
    capture_read_profiles(taker, peer->program, true);
    program_connection_count_remaining(peer, session, &losses);
    if (peer->stalled && session)
        count_unread(peer, session, &losses);
    if (losses.events)
        loss_records_add_held(&losses, session);
    uint64_t journalled = program_connection_report_losses(peer, &losses);
    program_connection_log_losses(peer, losses.events);
    program_connection_report_gap(peer, losses.events, journalled);
    agent_connection_hang_up(peer->server, peer->run, peer->program->session);
    peer->server->retired_count += peer->program->queue_count;
    captured_program_free(taker, peer->program, &peer->server->retired);
    capture_unlock(taker);
    loss_records_free(&losses);
    peer->program = NULL;
    peer->server->behind = true;
    ev_idle_start(peer->server->loop, &peer->server->work);
}

const struct connection_handler program_handler = {.doing = "messages of programs",
                                                   .whole = true,
                                                   .ready = program_connection_readiness,
                                                   .message = program_connection_receive_message,
                                                   .was_read = was_read,
                                                   .gone = program_connection_on_disconnect};

static uint64_t left_ns(struct loop_share share)
{
    uint64_t now = loop_clock_ns();
    return share.end_ns > now ? share.end_ns - now : 0;
}

void program_connection_finish(struct server *server)
{
    connection_read_last(server, server->last);
    capture_thread_stop(server->taker);
    capture_sync(server->taker, left_ns(server->last));
    if (!server->agent)
        journal_reader_step(server, server->last,
                            /* lost events can be counted once all earlier chunks are delivered */
                            server->last);
    program_connection_poll_all(server);
    while (server->peers)
        connection_close(server->peers, NULL);
    free_retired(server, SIZE_MAX);
    if (server->agent) {
        journal_forwarder_finish(server);
        return;
    }
    agent_connection_finish(server);
    for (size_t i = 0; i < server->runs.count; i++) {
        struct run *run = server->runs.items[i];
        if (run->status.live && run_journal_capture(run) && !run->status.finished &&
            !journal_reader_finish(server, run, server->last) && run_journal_capture(run)->sessions)
            run_journal_end(server, run); /* a reader of the file does the rest */
    }
}
