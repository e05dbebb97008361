#define _GNU_SOURCE
#include "server/peers/telling.h"

#include "server/file/report.h"
#include "server/file/saving.h"
#include "server/loop/log.h"
#include "server/peers/agents.h"
#include "server/intake/between.h"
#include "server/intake/metering.h"
#include "server/intake/session.h"
#include "server/peers/peer.h"
#include "server/peers/server.h"
#include "server/run/exchanges.h"
#include "server/store/packed.h"
#include "server/taking/taking.h"
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOKS 1000u /* of an order, between two looks at the clock */

/* ---- the next chunk ---- */

static bool read_back(struct run *run)
{
    struct taking *taking = run->taking;
    taking->read = grow(taking->read, &taking->read_room, taking->now->size, 1);
    taking->bytes = taking->read;
    return tracefile_read_back(run->trace, taking->now->at, taking->read, taking->now->size);
}

static void end_stretch(struct taking *taking)
{
    hand_told(&taking->hand, taking->now->size - taking->offset);
    stretch_free(taking->now);
    taking->now = NULL;
}

/* What was written cannot be read any more. */
static void cannot_read(struct run *run)
{
    struct taking *taking = run->taking;
    log_line("%s: %llu bytes of its journal cannot be read back", run->file,
             (unsigned long long)(taking->now->size - taking->offset));
    free(run->damage);
    run->damage =
        memory_printed("damaged at byte %llu: %llu bytes of the journal cannot be read back",
                       (unsigned long long)(taking->now->at + taking->offset),
                       (unsigned long long)(taking->now->size - taking->offset));
    end_stretch(taking);
}

static bool next_stretch(struct run *run)
{
    struct taking *taking = run->taking;
    taking->now = hand_take(&taking->hand);
    taking->offset = 0;
    if (taking->now)
        taking->bytes = taking->now->bytes;
    if (!taking->now || taking->bytes || read_back(run))
        return taking->now != NULL;
    cannot_read(run);
    return next_stretch(run);
}

static bool next_chunk(struct run *run, struct chunk *chunk)
{
    struct taking *taking = run->taking;
    if (!taking->now && !next_stretch(run))
        return false;
    const uint8_t *head = taking->bytes + taking->offset;
    uint64_t left = taking->now->size - taking->offset;
    if (left < CHUNK_HEAD_BYTES || !chunk_read_head(head, chunk) ||
        chunk->size > left - CHUNK_HEAD_BYTES ||
        (!taking->now->bytes && !chunk_is_whole(head, head + CHUNK_HEAD_BYTES, chunk->size))) {
        cannot_read(run);
        return next_chunk(run, chunk);
    }
    chunk->data = head + CHUNK_HEAD_BYTES;
    return true;
}

/* What it takes to read it again, which does not become less by packing it. */
static uint64_t weight_of(const struct chunk *chunk)
{
    bool packed = chunk->kind == CHUNK_SLOTS;
    return CHUNK_HEAD_BYTES +
           (packed ? (uint64_t)packed_count(chunk) * SLOT_BYTES : (uint64_t)chunk->size);
}

/* The chunk was told. */
static void pass(struct run *run, const struct chunk *chunk)
{
    struct taking *taking = run->taking;
    uint64_t bytes = CHUNK_HEAD_BYTES + (uint64_t)chunk->size;
    taking->offset += bytes;
    if (!taking->now->unwritten)
        tracefile_told(run->trace, taking->now->epoch, taking->now->at + taking->offset,
                       weight_of(chunk));
    hand_told(&taking->hand, bytes);
    if (taking->offset == taking->now->size)
        end_stretch(taking);
}

/* ---- telling it ---- */

/* Whoever told it is refused when its peer is looked at. */
static void refuse(struct server *server, const struct run *run, const struct chunk *chunk,
                   const char *error)
{
    struct peer *peer = server->peers;
    while (peer && (!peer->program || peer->run != run || peer->program->session != chunk->session))
        peer = peer->next;
    if (!peer)
        agents_refuse(server, run, chunk->session, error);
    if (!peer || peer->wrong)
        return;
    peer->wrong = error;
    peer->wrong_kind = chunk->kind == CHUNK_SLOTS ? MESSAGE_SLOTS : chunk->kind;
}

static void begin_session(struct run *run, struct chunk chunk)
{
    struct hello hello;
    struct in in = in_from(chunk.data, chunk.size);
    if (hello_read(&in, &hello)) {
        session_new(run, chunk.session, &hello);
        run_fact(run, chunk);
        run->finished = run->ending = false;
        run->ended_ns = 0;
    }
    hello_free(&hello);
}

static void describe(struct run *run, struct chunk chunk)
{
    struct in in = in_from(chunk.data, chunk.size);
    char *name = get_string(&in, 256), *text = get_string(&in, LIMIT_TARGET_BYTES);
    if (in_done(&in) && run_describe(run, name, text))
        run_fact(run, chunk);
    free(name);
    free(text);
}

static const char too_much_waits[] =
    "more events wait for others, which never came, than there is memory for";

static bool tell_slots(struct run *run, struct session *session, struct chunk chunk,
                       const char **error)
{
    size_t count;
    struct slot *slots = packed_slots(&chunk, &count);
    *error = "events that cannot be unpacked";
    bool good = slots && session_slots(session, chunk.thread, slots, count, error);
    free(slots);
    if (good && run_waits_too_much(run)) {
        *error = too_much_waits;
        return false;
    }
    return good;
}

/* Somebody who is no program. */
static bool tell_outside(struct run *run, struct chunk chunk)
{
    struct in in = in_from(chunk.data, chunk.size);
    bool good = chunk.kind == MESSAGE_METER
                    ? metering_name(run, METERED_NOBODY, FIGURES_NOBODY, &in)
                    : metering_samples(run, METERED_NOBODY, FIGURES_NOBODY, &in);
    if (good)
        run_fact(run, chunk);
    run->generation++;
    return true;
}

static bool tell_spans(struct run *run, struct session *session, struct chunk chunk,
                       const char **error)
{
    bool good = session_spans(session, chunk.thread, chunk.data, chunk.size, error);
    if (good)
        run_fact(run, chunk);
    return good;
}

static bool tell_entries(struct run *run, struct session *session, struct chunk chunk,
                         const char **error)
{
    bool good = session_entries(session, chunk.thread, chunk.data, chunk.size, error);
    if (good)
        run_fact(run, chunk);
    return good;
}

static bool tell_message(struct run *run, struct chunk chunk, const char **error)
{
    if (chunk.session == METERED_NOBODY)
        return tell_outside(run, chunk);
    struct session *session =
        chunk.session < run->session_count ? run->sessions[chunk.session] : NULL;
    if (!session)
        return true; /* it was refused before */
    session_batch(session, tracefile_epoch(run->trace), false);
    if (chunk.kind == MESSAGE_SLOTS || chunk.kind == CHUNK_SLOTS)
        return tell_slots(run, session, chunk, error);
    if (chunk.kind == CHUNK_SUMS)
        return session_sums(session, chunk.thread, chunk.data, chunk.size, error);
    if (chunk.kind == CHUNK_METERS)
        return session_meters(session, chunk.thread, chunk.data, chunk.size, error);
    if (chunk.kind == CHUNK_ENTRIES)
        return tell_entries(run, session, chunk, error);
    if (chunk.kind == CHUNK_SPANS)
        return tell_spans(run, session, chunk, error);
    if (chunk.kind == CHUNK_SWITCHES)
        return session_switched(session, chunk.data, chunk.size, error);
    if (chunk.kind == CHUNK_HANGUP || chunk.kind == MESSAGE_LOSSES)
        run_fact(run, chunk);
    if (chunk.kind == CHUNK_HANGUP)
        reached_hung_up(&run->reached, chunk.session);
    if (chunk.kind != CHUNK_HANGUP)
        return session_message(session, chunk.kind, chunk.thread, chunk.data, chunk.size, error);
    session_hangup(session);
    return true;
}

static void tell_clocks(struct run *run, struct chunk chunk)
{
    struct in in = in_from(chunk.data, chunk.size);
    if (exchanges_take(run, &in))
        run_fact(run, chunk);
}

static void tell(struct server *server, struct run *run, struct chunk chunk)
{
    const char *error;
    if (chunk.kind == CHUNK_SESSION)
        begin_session(run, chunk);
    else if (chunk.kind == CHUNK_TARGET)
        describe(run, chunk);
    else if (chunk.kind == CHUNK_REACHED)
        reached_take(&run->reached, chunk.data, chunk.size);
    else if (chunk.kind == CHUNK_CLOCKS)
        tell_clocks(run, chunk);
    else if (chunk.kind == CHUNK_ALONE)
        between_alone(run, chunk.data, chunk.size);
    else if (!tell_message(run, chunk, &error))
        refuse(server, run, &chunk, error);
}

/* ---- the end ---- */

void telling_end(struct server *server, struct run *run)
{
    uint8_t data[8];
    struct out out = {.data = data, .room = sizeof data};
    run->ended_ns = run->wall_ns ? run_clock_ns(run) : 0;
    put_u64(&out, (uint64_t)run->ended_ns);
    taker_enter(server->taker);
    journal_put_quiet(run->taking,
                      (struct chunk){.kind = CHUNK_END, .data = data, .size = sizeof data});
    taker_leave(server->taker);
    tracefile_has_ended(run->trace);
    tracefile_lock(run->trace, false);
}

/* False: its last state is not written yet. */
static bool finish(struct server *server, struct run *run, struct share share)
{
    if (!run->live)
        return true;
    if (!saving_finish(run, share))
        return false;
    telling_end(server, run);
    run->finished = true;
    run->ending = false;
    report_begin(run);
    return true;
}

/* ---- in time ---- */

/* Works off what telling has set going; true if all of it is done before the time is over. */
static bool work_off(struct server *server, struct run *run, struct share share)
{
    bool left = run->leaving > 0, all;
    while (!(all = run_go_on(run, LOOKS)) && share_left(share))
        ;
    run->ending |= all && left && run->connected == 0;
    if (all && run->ending && telling_done(run))
        all = finish(server, run, share);
    return all;
}

bool telling_done(const struct run *run)
{
    return !run->taking || hand_ahead(&run->taking->hand) == 0;
}

/* Tests stop the order while a file is there. */
static bool paused(void)
{
    static const char *file;
    static bool asked;
    if (!asked)
        file = getenv("POET_TEST_ORDER_PAUSE");
    asked = true;
    return file && access(file, F_OK) == 0;
}

/* Works off what the last chunk set going, and tells one more; true if there was one. */
static bool tell_one(struct server *server, struct run *run, struct share share)
{
    struct chunk chunk;
    if (!work_off(server, run, share))
        return true;
    if (!run->taking || !next_chunk(run, &chunk))
        return false;
    tell(server, run, chunk);
    pass(run, &chunk);
    saving_poll(run);
    return true;
}

/* What is told is bounded by what was forgotten, not by the time that either takes: true if that comes first. */
static bool catch_up(struct run *run)
{
    if (!run->live || !saving_lags(run))
        return false;
    saving_go_on(run, (struct share){0});
    return true;
}

bool telling_go_on(struct server *server, struct share share, struct share little)
{
    struct runs *runs = &server->runs;
    bool more = !paused(), later = false;
    while (more && share_left(share)) {
        more = later = false;
        for (size_t i = 0; i < runs->count && share_left(share); i++) {
            struct run *run = runs->items[(server->tell_first + i) % runs->count];
            if (catch_up(run))
                more = true;
            else if (saving_presses(run) && !share_left(little))
                later = true;
            else
                more |= run->live && tell_one(server, run, share);
        }
        server->tell_first++;
    }
    return !more && !later;
}

bool telling_finish(struct server *server, struct run *run, struct share share)
{
    while (!paused() && share_left(share) && tell_one(server, run, share))
        ;
    return telling_done(run) && run->leaving == 0 && !run->ending;
}

void telling_look(struct run *run)
{
    if (!run->taking)
        return;
    uint64_t since = taking_since(run->taking), now = turn_clock_ns();
    run->behind_ns = since && since < now ? now - since : 0;
    run->journal_ahead = hand_ahead(&run->taking->hand);
}
