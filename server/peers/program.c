#define _GNU_SOURCE
#include "server/peers/program.h"

#include "server/intake/losses.h"
#include "server/loop/log.h"
#include "server/file/saving.h"
#include "server/intake/queue.h"
#include "server/peers/agents.h"
#include "server/peers/celling.h"
#include "server/peers/handed.h"
#include "server/peers/heaping.h"
#include "server/peers/passing.h"
#include "server/peers/patience.h"
#include "server/peers/server.h"
#include "server/peers/telling.h"
#include "server/peers/wanting.h"
#include "server/peers/watching.h"
#include "server/peers/wishes.h"
#include "server/taking/taking.h"
#include "server/loop/turn.h"
#include "memory/memory.h"
#include "wire/limits.h"
#include "wire/text.h"
#include "wire/told.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct taker *enter(const struct peer *peer)
{
    taker_enter(peer->server->taker);
    return peer->server->taker;
}

/* In the door. */
static bool journal(struct peer *peer, unsigned kind, uint32_t thread, const void *data,
                    size_t size, bool last)
{
    return journal_put(peer->run->taking,
                       &(struct chunk){.kind = (uint16_t)kind,
                                       .session = peer->program->session,
                                       .thread = thread,
                                       .data = data,
                                       .size = (uint32_t)size},
                       1, last);
}

/* ---- what was taken ---- */

/* What the threads count themselves. */
static void note_figures(const struct peer *peer)
{
    const struct run *run = peer->run;
    if (peer->program->session >= run->process_count)
        return; /* it is not told yet */
    struct run_process *process = &run->processes[peer->program->session];
    uint64_t *told[] = {&process->waited_ns, &process->dropped, &process->unfollowed};
    for (size_t i = 0; i < 3; i++) {
        uint64_t figure = atomic_load(&peer->program->figures[i]);
        *told[i] = figure > *told[i] ? figure : *told[i];
    }
}

/* Those that cannot be believed any more. */
static void look_at_programs(struct server *server)
{
    for (struct peer *peer = server->peers; peer; peer = peer->next) {
        const char *error = peer->program ? atomic_load(&peer->program->error) : NULL;
        if (peer->program)
            note_figures(peer);
        if (error && !peer->ending)
            peer_refuse(peer, "%s", error);
        else if (peer->wrong && !peer->ending && peer->shares && peer->wrong_kind == MESSAGE_SLOTS)
            peer_refuse(peer, "%s", peer->wrong);
        else if (peer->wrong && !peer->ending)
            peer_refuse(peer, "%s: %s", message_name(peer->wrong_kind), peer->wrong);
    }
}

#define RETIRED_IN_A_TURN 1000u /* unmapping takes microseconds */

static bool free_retired(struct server *server, size_t most)
{
    for (; server->retired && most--; server->retired_count--) {
        struct queue *queue = server->retired;
        server->retired = queue->next;
        queue_free(queue);
    }
    return !server->retired;
}

/* Is all taken that it left, and what the others had by then?  What it left and there is no room for can only be
 * named once all before is told. */
static bool may_leave(struct peer *peer)
{
    struct taker *taker = enter(peer);
    if (peer->closed == 1)
        taker_aim(taker, peer->run->taking);
    enum taken taken = taker_round(taker, peer->program);
    bool reached = taker_reached(taker, peer->run->taking);
    bool full = taken == TAKEN_FULL || peer->run->taking->unwritten;
    taker_leave(taker);
    peer->closed += peer->closed == 1;
    return taken != TAKEN_MORE && taken != TAKEN_AHEAD && reached &&
           (!full || telling_done(peer->run));
}

/* A program that hung up stays until all that the others had said by then has been taken: lines that it has
 * with them must not look as if nobody numbered them any more. */
static void drop_closed(struct server *server)
{
    for (struct peer *peer = server->peers, *next; peer; peer = next) {
        next = peer->next;
        if (!peer->program || !peer->closed)
            continue;
        if (may_leave(peer) && peer->closed++ >= 3)
            peer_hung_up(peer);
    }
}

/* Somebody asks what threads measure of themselves. */
static void read_wanted(struct server *server)
{
    for (struct peer *peer = server->peers; peer; peer = peer->next)
        if (peer->program && peer->run->contexts.wanted) {
            struct taker *taker = enter(peer);
            taker_sums(taker, peer->program, false);
            taker_leave(taker);
            celling_now(peer);
        }
    for (size_t i = 0; i < server->runs.count; i++) {
        struct contexts *contexts = &server->runs.items[i]->contexts;
        contexts->taken += contexts->wanted;
        contexts->wanted = false;
    }
}

/* With POET_TEST_SAVE_STEP set, one step in a turn: what a loop comes to that gets little of the processor. */
static struct share saving_share(void)
{
    static int step = -1;
    if (step < 0)
        step = getenv("POET_TEST_SAVE_STEP") != NULL;
    return share_of(step ? 0 : TURN_SAVE_NS);
}

void program_poll(struct server *server)
{
    turn_doing("queues");
    if (!taker_runs(server->taker))
        taker_settle(server->taker, TURN_POLL_NS);
    turn_doing("what threads measure");
    read_wanted(server);
    wanting_go_on(server);
    turn_doing("the order");
    bool all = server->agent
                   ? passing_go_on(server, share_of(TURN_TELL_NS))
                   : telling_go_on(server, share_of(TURN_TELL_NS), share_of(TURN_LITTLE_NS));
    agents_look(server);
    patience_look(server);
    for (size_t i = 0; i < server->runs.count; i++)
        telling_look(server->runs.items[i]);
    turn_doing("parts that found no room");
    for (size_t i = 0; i < server->runs.count; i++)
        if (server->runs.items[i]->live)
            tracefile_settle(server->runs.items[i]->trace);
    turn_doing("states of runs");
    struct share saves = saving_share();
    for (size_t i = 0; i < server->runs.count; i++)
        all &= !server->runs.items[i]->live || saving_go_on(server->runs.items[i], saves);
    turn_doing("hang-ups");
    look_at_programs(server);
    drop_closed(server);
    for (struct peer *peer = server->peers; peer && all; peer = peer->next)
        all = !peer->unread;
    all &= free_retired(server, RETIRED_IN_A_TURN);
    server->behind = !all;
    atomic_store(&server->asked_to_tell, !all);
    if (!all)
        ev_idle_start(server->loop, &server->work);
}

#define SETTLE_NS 3000000u

void program_settle(struct server *server)
{
    turn_doing("queues");
    taker_settle(server->taker, SETTLE_NS);
    program_poll(server);
}

/* ---- messages ---- */

static bool socket_slots(struct peer *peer, const uint8_t *body, size_t size, const char **error)
{
    struct in in = in_from(body, size);
    uint32_t thread = get_u32(&in);
    if (in.error || in_left(&in) % SLOT_BYTES) {
        *error = "SLOTS of a broken size";
        return false;
    }
    size_t bytes = in_left(&in);
    struct slot *slots = memory_bytes(bytes + 1); /* aligned, unlike the message */
    memcpy(slots, body + 4, bytes);
    struct taker *taker = enter(peer);
    peer->stalled = !journal_slots(peer->run->taking, peer->program->session, thread, slots,
                                   bytes / SLOT_BYTES);
    taker_leave(taker);
    free(slots);
    return true;
}

/* What a program says itself of what it dropped, beside what its queues say.  In the door. */
static void note_losses(const struct peer *peer, const uint8_t *body, size_t size)
{
    struct told_losses told;
    struct in in = in_from(body, size);
    if (!get_told_losses(&in, &told))
        return;
    const uint64_t said[] = {told.waited_ns, told.dropped, told.unfollowed};
    for (size_t i = 0; i < 3; i++)
        if (said[i] > atomic_load(&peer->program->figures[i]))
            atomic_store(&peer->program->figures[i], said[i]);
}

#define LOST_NS 100000000u /* once or a few times in the life of a program */

static void socket_message(struct peer *peer, unsigned type, const uint8_t *body, size_t size)
{
    struct in in = in_from(body, size);
    char *name = type == MESSAGE_DESCRIBE ? get_name(&in, 256) : NULL;
    struct taker *taker = enter(peer);
    struct share share = share_of(LOST_NS);
    while (type == MESSAGE_LOST && taker_round(taker, peer->program) == TAKEN_MORE &&
           share_left(share))
        ; /* the lines that it names were announced in the queues, before */
    peer->stalled = (name && in_done(&in) && !journal_describe(peer->run->taking, name)) ||
                    !journal(peer, type, 0, body, size, false);
    if (type == MESSAGE_LOSSES)
        note_losses(peer, body, size);
    else if (type == MESSAGE_METER)
        celling_named(peer, body, size);
    taker_leave(taker);
    free(name);
}

/* Not while the order is too far behind. */
static enum readiness ready(struct peer *peer)
{
    return peer->run->taking && taking_ahead(peer->run->taking) ? READY_LATER : READY;
}

/* Files are written for who is here, and might write them himself. */
static bool want_report(struct peer *peer, struct in *in, const char **error)
{
    struct told_report told;
    int domain = 0;
    socklen_t size = sizeof domain;
    if (!get_told_report(in, &told)) {
        *error = in->error;
        return false;
    }
    getsockopt(peer->channel.fd, SOL_SOCKET, SO_DOMAIN, &domain, &size);
    if (domain == AF_UNIX) {
        free(peer->run->report);
        peer->run->report = memory_copied_part(told.path.bytes, told.path.size);
    }
    return true;
}

static void take_message(struct peer *peer, unsigned type, const uint8_t *body, size_t size)
{
    const char *error = NULL;
    bool ok = true;
    struct in in = in_from(body, size);
    if (type == MESSAGE_WAKE) {
        peer->woken = true; /* many may come at once */
    } else if (type == MESSAGE_THREAD) {
        error = handed_queue(peer, &in);
        ok = error == NULL;
    } else if (type == MESSAGE_REGION) {
        error = handed_region(peer, &in);
        ok = error == NULL;
    } else if (type == MESSAGE_ENTRIES) {
        error = handed_ring(peer, &in);
        ok = error == NULL;
    } else if (type == MESSAGE_SPAN) {
        error = handed_carrier(peer, &in);
        ok = error == NULL;
        if (ok)
            socket_message(peer, type, body, size); /* what it is called */
    } else if (type == MESSAGE_HEAP) {
        int fd = channel_take_descriptor(&peer->channel);
        error = heaping_begin(peer, &in, fd);
        ok = error == NULL;
    } else if (type == MESSAGE_METER && wishes_take(peer, body, size)) {
        turn_doing("messages of programs");
    } else if (type == MESSAGE_CELLS) {
        int fd = channel_take_descriptor(&peer->channel);
        error = celling_begin(peer, &in, fd);
        ok = error == NULL;
    } else if (type == MESSAGE_REPORT) {
        ok = want_report(peer, &in, &error);
    } else if (type == MESSAGE_SLOTS) {
        ok = socket_slots(peer, body, size, &error);
    } else if (type >= CHUNK_SESSION) {
        error = "is no message of a program";
        ok = false;
    } else {
        socket_message(peer, type, body, size);
    }
    if (!ok)
        peer_refuse(peer, "%s: %s", message_name(type), error);
}

static void was_read(struct peer *peer)
{
    if (!peer->woken)
        return;
    peer->woken = false;
    taker_wake(peer->server->taker);
}

/* ---- the end ---- */

/* What it left behind in its queues; not for ever where it was refused, or the server is to end. */
static void drain_last(struct peer *peer)
{
    struct share share = peer->server->stopping ? peer->server->last : share_of(TURN_POLL_NS);
    enum taken taken;
    do {
        struct taker *taker = enter(peer);
        taken = taker_round(taker, peer->program);
        taker_leave(taker);
    } while (taken == TAKEN_MORE && share_left(share));
}

/* What it left behind in its queues and there is no room for.  In the door. */
static void count_untaken(struct peer *peer, const struct session *session, struct losses *losses)
{
    struct slot *slots = NULL;
    size_t room = 0;
    for (struct queue *q = peer->program->queues; q && session; q = q->next) {
        uint64_t taken = 0;
        q->after = NULL;
        while (taken < q->slots && queue_look(q) && q->there) {
            slots = grow(slots, &room, q->there, SLOT_BYTES);
            unsigned ignored;
            size_t count = queue_copy(
                q, slots,
                &(struct queue_want){.most = q->there, .room = q->there, .horizon = UINT64_MAX},
                &ignored);
            losses_add(losses, session, slots, count);
            q->tail += count;
            taken += count;
        }
    }
    free(slots);
}

/* What it sent and there is no room for. */
static void count_unread(struct peer *peer, const struct session *session, struct losses *losses)
{
    size_t used = 0, length;
    unsigned type;
    const char *error;
    peer_read_rest(peer);
    while (frame_read(peer->in.data + used, peer->in.size - used, LIMIT_MESSAGE_BYTES, &type,
                      &length, &error) > 0) {
        const uint8_t *body = peer->in.data + used + MESSAGE_FRAME_BYTES;
        used += MESSAGE_FRAME_BYTES + length;
        struct slot *slots = memory_bytes(length + 1); /* for its alignment */
        if (type == MESSAGE_SLOTS && length >= 4) {
            memcpy(slots, body + 4, length - 4);
            losses_add(losses, session, slots, (length - 4) / SLOT_BYTES);
        } else if (type == MESSAGE_LOSSES) {
            note_losses(peer, body, length);
        } else if (type == MESSAGE_SENT || type == MESSAGE_ENDS) {
            journal(peer, type, 0, body, length, true);
        }
        free(slots);
    }
}

/* Says which numbers will never come, as far as there is room to say it, and counts the others: how many
 * were told. */
static uint64_t tell_losses(struct peer *peer, struct losses *losses)
{
    uint64_t told = 0, room = tracefile_last_room(peer->run->trace) / 2;
    losses_merge(losses);
    for (size_t i = 0; i < losses->count; i++) {
        const struct loss *loss = &losses->items[i];
        struct out out = {0};
        put_told_lost(&out, &(struct told_lost){loss->line, loss->first, loss->count});
        if (out.size + CHUNK_HEAD_BYTES <= room) {
            room -= out.size + CHUNK_HEAD_BYTES;
            told += loss->dropped ? 0 : loss->count;
            journal(peer, MESSAGE_LOST, 0, out.data, out.size, true);
        }
        out_free(&out);
    }
    if (losses->events)
        log_line("%s: %llu events of %s are lost: there was no room or no time for them",
                 peer->run->file, (unsigned long long)losses->events, peer->name);
    return told;
}

/* What is told of a program beside its events. */
static void tell_gap(struct peer *peer, uint64_t left, uint64_t left_told)
{
    const _Atomic uint64_t *figures = peer->program->figures;
    struct out gap = {0};
    put_told_losses(&gap,
                    &(struct told_losses){figures[0], figures[1], figures[2], left, left_told});
    journal(peer, MESSAGE_LOSSES, 0, gap.data, gap.size, true);
    out_free(&gap);
}

static struct session *session_of(const struct peer *peer)
{
    uint32_t number = peer->program->session;
    return number < peer->run->session_count ? peer->run->sessions[number] : NULL;
}

static void gone(struct peer *peer)
{
    struct losses losses = {0};
    const struct session *session = session_of(peer);
    drain_last(peer);
    watching_end(peer);
    heaping_end(peer);
    celling_end(peer);
    struct taker *taker = enter(peer);
    taker_sums(taker, peer->program, true);
    count_untaken(peer, session, &losses);
    if (peer->stalled && session)
        count_unread(peer, session, &losses);
    if (losses.events)
        losses_add_held(&losses, session);
    uint64_t told = tell_losses(peer, &losses);
    tell_gap(peer, losses.events, told);
    journal(peer, CHUNK_HANGUP, 0, NULL, 0, true);
    peer->server->retired_count += peer->program->queue_count;
    program_free(taker, peer->program, &peer->server->retired);
    taker_leave(taker);
    losses_free(&losses);
    peer->program = NULL;
    peer->server->behind = true;
    ev_idle_start(peer->server->loop, &peer->server->work);
}

const struct talk talk_with_program = {.doing = "messages of programs",
                                       .whole = true,
                                       .ready = ready,
                                       .message = take_message,
                                       .was_read = was_read,
                                       .gone = gone};

static uint64_t left_ns(struct share share)
{
    uint64_t now = turn_clock_ns();
    return share.end_ns > now ? share.end_ns - now : 0;
}

void program_finish(struct server *server)
{
    taker_stop(server->taker);
    taker_settle(server->taker, left_ns(server->last));
    if (!server->agent)
        telling_go_on(server, server->last,
                      server->last); /* what is lost can be named once all before is told */
    look_at_programs(server);
    while (server->peers)
        peer_drop(server->peers, NULL);
    free_retired(server, SIZE_MAX);
    if (server->agent) {
        passing_finish(server);
        return;
    }
    for (size_t i = 0; i < server->runs.count; i++) {
        struct run *run = server->runs.items[i];
        if (run->live && run->taking && !run->finished &&
            !telling_finish(server, run, server->last) && run->taking->sessions)
            telling_end(server, run); /* whoever reads the file does the rest */
    }
}
