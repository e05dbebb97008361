#define _GNU_SOURCE
#include "server/file/replay.h"

#include "server/file/passing.h"
#include "server/file/saved.h"
#include "server/file/saving.h"
#include "server/intake/between.h"
#include "server/intake/metering.h"
#include "server/intake/session.h"
#include "server/loop/turn.h"
#include "server/run/exchanges.h"
#include "server/store/packed.h"
#include "server/store/resuming.h"
#include "wire/limits.h"
#include "memory/memory.h"

#include <stdlib.h>
#include <string.h>

struct player {
    struct run *run;
    const char *trouble;    /* first thing that could not be read */
    uint32_t saved, oldest; /* regions: the one that began with the state, and the first one read */
    bool ended, lost; /* lost: the state could not be read */
    struct passed passed; /* until the state was read */
    struct saved_hangup *hangups; /* of a run that is gone on with: those that its state tells */
    size_t hangup_count;
    bool resumed;
    uint64_t begin_ns, told_ns, chunks;
};

#define LOOKS 10000u /* a few milliseconds */
#define TELL_NS 500000000u /* how often whoever waits is told how far it is */

static FILE *telling; /* NULL: nobody waits */

void replay_tell(FILE *where) { telling = where; }

/* For whoever started this server and waits: how much of the file was read. */
static void tell_progress(struct player *player)
{
    uint64_t now = turn_clock_ns();
    if (!telling || now - player->begin_ns < 2 * TELL_NS || now - player->told_ns < TELL_NS)
        return;
    player->told_ns = now;
    uint64_t at, size;
    tracefile_progress(player->run->trace, &at, &size);
    if (size)
        fprintf(telling, "progress %u\n", (unsigned)(100 * at / size));
}

static struct session *session_of(const struct player *player, uint32_t number)
{
    return number < player->run->session_count ? player->run->sessions[number] : NULL;
}

static void play_clocks(struct player *player, struct chunk chunk)
{
    struct in in = in_from(chunk.data, chunk.size);
    if (!exchanges_take(player->run, &in))
        player->trouble = "clocks that cannot be read";
}

static void begin_session(struct player *player, struct chunk chunk)
{
    struct hello hello;
    struct in in = in_from(chunk.data, chunk.size);
    bool good = hello_read(&in, &hello) && hello.role == ROLE_PROGRAM;
    if (!good || chunk.session > player->run->process_count || chunk.session >= LIMIT_LINES)
        player->trouble = "a session that cannot be";
    else if (chunk.session == player->run->process_count)
        session_new(player->run, chunk.session, &hello);
    hello_free(&hello);
}

static void describe(struct player *player, struct chunk chunk)
{
    struct in in = in_from(chunk.data, chunk.size);
    char *name = get_string(&in, 256), *text = get_string(&in, LIMIT_TARGET_BYTES);
    if (!in_done(&in) || !run_describe(player->run, name, text))
        player->trouble = "a description that cannot be read";
    free(name);
    free(text);
}

static void hang_up(void *context, uint32_t number)
{
    struct session *session = session_of(context, number);
    if (session)
        session_hangup(session);
}

static void play(void *context, struct chunk chunk);

static void play_steps(void *context, struct chunk chunk)
{
    struct player *player = context;
    if (!session_did(player->run, chunk.data, chunk.size))
        player->trouble = "steps that cannot be";
}

static void play_message(struct player *player, struct chunk chunk);

static void play_part(void *context, struct chunk chunk)
{
    if (chunk.kind == CHUNK_STEPS)
        play_steps(context, chunk);
    else
        play_message(context, chunk);
}

/* Before sessions hang up, whose they are. */
static void play_passed(void *context)
{
    struct player *player = context;
    if (!passed_play(&player->passed, player->run, play_part, player))
        player->trouble = "facts that cannot be read";
}

static void play_state(struct player *player, struct chunk chunk)
{
    player->saved = chunk.epoch;
    player->oldest = chunk.thread;
    if (player->resumed)
        player->hangups = saved_hangups(chunk, &player->hangup_count);
    if (!saved_state(player->run, chunk, play_passed, hang_up, player)) {
        player->trouble = "the state of the run";
        player->lost = true;
    }
}

static void play_slots(struct player *player, struct session *session, struct chunk chunk)
{
    const char *error = NULL;
    size_t count;
    struct slot *slots = packed_slots(&chunk, &count);
    if (!slots)
        player->trouble = "events that cannot be unpacked";
    else if (!session_slots(session, chunk.thread, slots, count, &error))
        player->trouble = error;
    free(slots);
}

/* (Newer ones came with the state.) */
static void play_sums(struct player *player, struct session *session, struct chunk chunk,
                      bool stale)
{
    const char *error = NULL;
    if (!stale && !session_sums(session, chunk.thread, chunk.data, chunk.size, &error))
        player->trouble = error;
}

static void play_meters(struct player *player, struct session *session, struct chunk chunk,
                        bool stale)
{
    const char *error = NULL;
    if (!stale && !session_meters(session, chunk.thread, chunk.data, chunk.size, &error))
        player->trouble = error;
}

/* What somebody told who is no program. */
static bool play_outside(struct player *player, struct chunk chunk, bool stale)
{
    struct in in = in_from(chunk.data, chunk.size);
    if (chunk.session != METERED_NOBODY ||
        (chunk.kind != MESSAGE_METER && chunk.kind != MESSAGE_CELLS))
        return false;
    if (!stale && !(chunk.kind == MESSAGE_METER
                        ? metering_name(player->run, METERED_NOBODY, FIGURES_NOBODY, &in)
                        : metering_samples(player->run, METERED_NOBODY, FIGURES_NOBODY, &in)))
        player->trouble = in.error;
    return true;
}

static void play_entries(struct player *player, struct session *session, struct chunk chunk,
                         bool stale)
{
    const char *error = NULL;
    if (!stale && !session_entries(session, chunk.thread, chunk.data, chunk.size, &error))
        player->trouble = error;
}

static void play_switches(struct player *player, struct session *session, struct chunk chunk)
{
    const char *error = NULL;
    if (!session_switched(session, chunk.data, chunk.size, &error))
        player->trouble = error;
}

static void play_spans(struct player *player, struct session *session, struct chunk chunk,
                       bool stale)
{
    const char *error = NULL;
    if (!stale && !session_spans(session, chunk.thread, chunk.data, chunk.size, &error))
        player->trouble = error;
}

/* What a program told, now or before the state was written. */
static void play_message(struct player *player, struct chunk chunk)
{
    const char *error = NULL;
    bool stale = chunk.epoch && chunk.epoch < player->saved;
    if (play_outside(player, chunk, stale))
        return;
    struct session *session = session_of(player, chunk.session);
    if (!session) {
        player->trouble = "events of a program that never began";
        return;
    }
    session_batch(session, chunk.epoch, stale);
    if (chunk.kind == MESSAGE_SLOTS || chunk.kind == CHUNK_SLOTS)
        play_slots(player, session, chunk);
    else if (chunk.kind == CHUNK_SUMS)
        play_sums(player, session, chunk, stale);
    else if (chunk.kind == CHUNK_METERS)
        play_meters(player, session, chunk, stale);
    else if (chunk.kind == CHUNK_STEPS)
        play_steps(player, chunk);
    else if (chunk.kind == CHUNK_ENTRIES)
        play_entries(player, session, chunk, stale);
    else if (chunk.kind == CHUNK_SWITCHES)
        play_switches(player, session, chunk);
    else if (chunk.kind == CHUNK_SPANS)
        play_spans(player, session, chunk, stale);
    else if (!session_message(session, chunk.kind, chunk.thread, chunk.data, chunk.size, &error))
        player->trouble = error;
}

static void play(void *context, struct chunk chunk)
{
    struct player *player = context;
    bool stale = chunk.epoch && chunk.epoch < player->saved;
    if (chunk.kind == CHUNK_AGENT || chunk.kind == CHUNK_FORWARDED)
        return; /* how it is forwarded does not matter here */
    if (chunk.kind == CHUNK_REACHED) {
        if (!stale && !reached_take(&player->run->reached, chunk.data, chunk.size))
            player->trouble = "a mark that cannot be";
        return;
    }
    player->ended = chunk.kind == CHUNK_END;
    if (player->lost)
        return;
    switch (chunk.kind) {
    case CHUNK_NEWS:
        if (!saved_news(player->run, chunk, play, player))
            player->trouble = "names that cannot be read";
        break;
    case CHUNK_STATE:
        play_state(player, chunk);
        break;
    case CHUNK_PASSED:
        if (!passed_note(&player->passed, chunk))
            player->trouble = "facts that cannot be";
        break;
    case CHUNK_SESSION:
        if (!stale)
            begin_session(player, chunk);
        break;
    case CHUNK_TARGET:
        if (!stale)
            describe(player, chunk);
        break;
    case CHUNK_CLOCKS:
        if (!stale)
            play_clocks(player, chunk);
        break;
    case CHUNK_ALONE:
        if (!stale && !between_alone(player->run, chunk.data, chunk.size))
            player->trouble = "a stream that cannot be";
        break;
    case CHUNK_THREADS:
        if (chunk.epoch == player->oldest)
            saved_threads(player->run, chunk);
        break;
    case CHUNK_HANGUP:
        hang_up(player, chunk.session);
        break;
    case CHUNK_END:
        player->run->ended_ns = 0; /* older servers do not say it */
        if (chunk.size >= 8) {
            struct in in = in_from(chunk.data, chunk.size);
            player->run->ended_ns = (int64_t)get_u64(&in);
        }
        break;
    default:
        play_message(player, chunk);
    }
}

/* What a chunk sets going is worked off before the next one. */
static void play_whole(void *context, struct chunk chunk)
{
    struct player *player = context;
    play(player, chunk);
    while (!run_go_on(player->run, LOOKS))
        tell_progress(player);
    if (player->chunks++ % 64 == 0)
        tell_progress(player);
}

struct run *replay(const char *path, const char **why)
{
    struct tracefile *file = tracefile_open(path, why);
    if (!file)
        return NULL;
    struct player player = {.run = run_new(tracefile_run(file), 1, file),
                            .begin_ns = turn_clock_ns()};
    run_patient(player.run);
    char *damage;
    tracefile_replay(file, play_whole, &player, &damage);
    for (size_t i = 0; i < player.run->session_count; i++) {
        if (player.run->sessions[i])
            player.run->unfinished = true;
        session_free(player.run->sessions[i]);
    }
    free(player.passed.items);
    run_pack(player.run);
    player.run->connected = 0; /* nobody is, to a file */
    if (player.lost) {
        free(damage);
        run_free(player.run);
        *why = "the trace file is damaged: its state cannot be read";
        return NULL;
    }
    player.run->file = memory_copied(path);
    player.run->unfinished |= !player.ended;
    player.run->written = player.run->unfinished && tracefile_is_written(file);
    player.run->damage = damage;
    if (!damage && player.trouble)
        player.run->damage = memory_printed("damaged: %s", player.trouble);
    return player.run;
}

struct run *replay_known(struct tracefile *file, const char *path, uint64_t keep_bytes,
                         const char **why)
{
    struct player player = {
        .run = run_new(tracefile_run(file), 1, file), .begin_ns = turn_clock_ns(), .resumed = true};
    struct run *run = player.run;
    char *damage;
    run_patient(run);
    tracefile_replay_known(file, play_whole, &player, &damage);
    *why = damage || player.trouble || player.lost ? "it is damaged" : NULL;
    if (!*why) {
        run->file = memory_copied(path);
        run_goes_on(run);
        saving_begin(run, keep_bytes);
        saving_resume(run, tracefile_news(file), player.hangups, player.hangup_count);
    }
    free(player.passed.items);
    free(player.hangups);
    free(damage);
    if (!*why)
        return run;
    run_free(run);
    return NULL;
}
