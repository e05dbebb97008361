#define _GNU_SOURCE
#include "server/peers/viewer.h"

#include "server/answer/named.h"
#include "server/file/rest.h"
#include "server/peers/outside.h"
#include "server/peers/program.h"
#include "server/peers/server.h"

#include "wire/asked.h"
#include "wire/limits.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

#define FED_LAG_NS 1000000000u /* what an order may be behind without a word */
#define DUMP_BYTES (256u << 10)

/* Index of the run that is meant; SIZE_MAX: there is none. */
static size_t choose(const struct server *server, const char *which)
{
    char *end;
    unsigned long number = strtoul(which, &end, 10);
    if (!*which)
        return server->runs.count - 1;
    for (size_t i = server->runs.count; i-- > 0;)
        if ((*end == 0 && server->runs.items[i]->number == number) ||
            strcmp(server->runs.items[i]->name, which) == 0)
            return i;
    return SIZE_MAX;
}

/* ---- what is told without being asked ---- */

/* What is new goes before every answer.  False: not all of it is told; the rest goes out as the viewer
 * reads, and until then nothing else is answered. */
static bool tell_news(struct peer *peer)
{
    if (!peer->telling || peer->out.size < DUMP_BYTES)
        peer->telling = !answer_some_news(&peer->out, peer->run, &peer->known, DUMP_BYTES);
    if (peer->telling)
        peer_send(peer);
    return !peer->telling;
}

/* It must read before anything else is worked out for it. */
static bool is_full(const struct peer *peer) { return peer->out.size > LIMIT_VIEWER_BYTES; }

/* It may have to read first; then its next message waits. */
static enum readiness ready(struct peer *peer)
{
    program_settle(peer->server); /* what happened before the question is in the answer */
    turn_doing("messages of viewers");
    peer->held = is_full(peer) || (peer->run && !tell_news(peer));
    return peer->held ? NOT_READY : READY;
}

/* The lines that are named in what is put between the two are told before it. */
static size_t naming(struct peer *peer)
{
    named_begin(peer->run, &peer->known);
    return peer->out.size;
}

static void have_named(struct peer *peer, size_t before)
{
    named_end(&peer->out, before, peer->run, &peer->known);
}

static void work_on(struct peer *peer)
{
    if (desk_waits(&peer->desk))
        ev_idle_start(peer->server->loop, &peer->server->work);
}

static void refill(struct peer *peer)
{
    if (peer->telling && peer->out.size < DUMP_BYTES)
        tell_news(peer);
    if (peer->telling || is_full(peer))
        return;
    peer->unread |= peer->held; /* its next message is read now */
    peer->held = false;
    if (peer->out.size < DUMP_BYTES && desk_streams(&peer->desk)) {
        size_t before = naming(peer);
        desk_refill(&peer->desk, &peer->out);
        have_named(peer, before);
    }
    work_on(peer);
}

static bool has_more(const struct peer *peer) { return peer->telling || desk_streams(&peer->desk); }

/* ---- questions about the server ---- */

/* From its run. */
static void look_away(struct peer *peer)
{
    if (peer->run) {
        peer->run->watchers--;
        peer->run = NULL;
    }
    desk_clear(&peer->desk, NULL);
    named_forget(&peer->known);
}

static void select_run(struct peer *peer, struct run *run, bool named)
{
    desk_clear(&peer->desk, &peer->out); /* what it asked was about another run */
    look_away(peer);
    peer->run = run;
    peer->desk.run = run;
    run->watchers++;
    peer->known = (struct known){.named = named};
    peer->fed_generation = 0;
    out_begin(&peer->out, MESSAGE_SELECTED);
    answer_run(&peer->out, run);
    out_end(&peer->out);
}

/* Of all runs; NULL: there is none. */
static const struct run *newest(const struct server *server)
{
    return server->runs.count ? server->runs.items[server->runs.count - 1] : NULL;
}

static void on_select(struct peer *peer, uint32_t id, struct in *in)
{
    char *which = get_name(in, 256), text[LIMIT_TEXT_BYTES];
    uint8_t flags = in_left(in) ? get_u8(in) : 0;
    size_t index = in_done(in) ? choose(peer->server, which) : SIZE_MAX;
    const char *why = NULL;
    struct run *run = index == SIZE_MAX ? NULL : rest_wake(&peer->server->runs, index, &why);
    struct reply reply = {&peer->out, id, 0};
    peer->follows_newest = !*which;
    if (run) {
        select_run(peer, run, flags & SELECT_NAMED_LINES);
        peer->newer_told = newest(peer->server)->number;
        reply_done(&reply);
        tell_news(peer);
    } else if (why) {
        snprintf(text, sizeof text, "run %u: %s: %s", peer->server->runs.items[index]->number,
                 peer->server->runs.items[index]->file, why);
        reply_refuse(&peer->out, id, text);
    } else if (!in->error) {
        reply_refuse(&peer->out, id,
                     *which ? "there is no such run: see poet runs" : "there is no run yet");
    }
    free(which);
}

static void on_runs(struct peer *peer, uint32_t id, struct in *in)
{
    struct reply reply = {&peer->out, id, 0};
    for (size_t i = 0; in_done(in) && i < peer->server->runs.count; i++) {
        part_begin(&reply, PART_RUN);
        answer_run(&peer->out, peer->server->runs.items[i]);
        part_end(&reply);
    }
    if (!in->error)
        reply_done(&reply);
}

/* ---- all questions ---- */

static void on_question(struct peer *peer, const struct asked *asked, struct in *in)
{
    size_t before = naming(peer);
    desk_ask(&peer->desk, asked, in, &peer->out);
    have_named(peer, before);
}

static void on_ask(struct peer *peer, struct in *in)
{
    struct asked asked;
    get_asked(in, &asked);
    if (in->error)
        peer_refuse(peer, "ASK: %s", in->error);
    else if (asked.what == ASK_RUNS)
        on_runs(peer, asked.id, in);
    else if (asked.what == ASK_SELECT)
        on_select(peer, asked.id, in);
    else if (!peer->run)
        reply_refuse(&peer->out, asked.id, "no run was selected");
    else
        on_question(peer, &asked, in);
    if (in->error && !peer->ending)
        peer_refuse(peer, "%s: %s", question_name(asked.what), in->error);
    work_on(peer);
}

static void take_message(struct peer *peer, unsigned type, const uint8_t *body, size_t size)
{
    struct in in = in_from(body, size);
    peer->server->asked = ev_now(peer->server->loop);
    if (peer->run)
        answer_damage(&peer->out, peer->run, &peer->known);
    switch (type) {
    case MESSAGE_ASK:
        on_ask(peer, &in);
        break;
    case MESSAGE_CANCEL:
        desk_cancel(&peer->desk, get_u32(&in));
        break;
    case MESSAGE_FEED:
        peer->feeding = get_u8(&in);
        break;
    case MESSAGE_CELLS:
        outside_number(peer, &in);
        break;
    default:
        in_fail(&in, "is no message of a viewer");
        break;
    }
    if (in.error && !peer->ending)
        peer_refuse(peer, "%s: %s", message_name(type), in.error);
    else
        peer_send(peer);
}

const struct talk talk_with_viewer = {.doing = "messages of viewers",
                                      .ready = ready,
                                      .message = take_message,
                                      .refill = refill,
                                      .has_more = has_more,
                                      .gone = look_away};

/* A step for one viewer; false if it waits for nothing, or must read first. */
static bool work_for(struct peer *peer)
{
    if (!desk_waits(&peer->desk) || is_full(peer) || !tell_news(peer))
        return false;
    size_t before = naming(peer);
    desk_step(&peer->desk, &peer->out);
    have_named(peer, before);
    if (peer->out.size > before)
        peer_send(peer);
    return desk_waits(&peer->desk);
}

bool viewer_work(struct server *server)
{
    bool any = false;
    for (struct peer *peer = server->peers, *next; peer; peer = next) {
        next = peer->next;
        if (peer->role == ROLE_VIEWER && !peer->ending && peer->run)
            any |= work_for(peer);
    }
    return any;
}

/* How far the order of its run is behind, in steps that are worth a word; 0: hardly. */
static uint64_t lag_of(const struct run *run)
{
    return run->behind_ns < FED_LAG_NS ? 0 : run->behind_ns / (FED_LAG_NS / 2);
}

static void put_grown(struct peer *peer)
{
    peer->fed_generation = peer->run->generation;
    peer->fed_connected = run_connected(peer->run);
    peer->fed_lag = lag_of(peer->run);
    out_begin(&peer->out, MESSAGE_GROWN);
    put_u64(&peer->out, peer->run->generation);
    put_u64(&peer->out, order_count(peer->run->order));
    put_u32(&peer->out, run_connected(peer->run));
    put_u64(&peer->out, peer->run->behind_ns);
    out_end(&peer->out);
}

/* Of a run that has begun meanwhile, once; what it looks at stays. */
static void tell_newer(struct peer *peer)
{
    const struct run *run = newest(peer->server);
    if (!run || !peer->run || run == peer->run || run->number <= peer->newer_told)
        return;
    peer->newer_told = run->number;
    out_begin(&peer->out, MESSAGE_NEWER);
    answer_run(&peer->out, run);
    out_end(&peer->out);
}

void viewer_feed(struct server *server)
{
    for (struct peer *peer = server->peers; peer; peer = peer->next) {
        if (peer->role != ROLE_VIEWER || !peer->feeding || peer->ending ||
            peer->out.size > (1u << 20))
            continue;
        const char *why;
        bool stays = peer->feeding == FEED_STAY && peer->run;
        bool newer =
            peer->follows_newest && !stays && server->runs.count && newest(server) != peer->run;
        struct run *latest = newer ? rest_wake(&server->runs, server->runs.count - 1, &why) : NULL;
        bool another = latest != NULL;
        if (another)
            select_run(peer, latest, peer->known.named);
        else if (stays)
            tell_newer(peer);
        if (peer->run && (another || peer->run->generation != peer->fed_generation ||
                          run_connected(peer->run) != peer->fed_connected ||
                          lag_of(peer->run) != peer->fed_lag)) {
            if (!tell_news(peer))
                continue;
            put_grown(peer);
        }
        if (peer->out.size)
            peer_send(peer);
    }
}
