#define _GNU_SOURCE
#include "server/checkpoint/trace_replay.h"

#include "base/alloc.h"
#include "server/checkpoint/checkpoint_write.h"
#include "server/checkpoint/expiring_records.h"
#include "server/cuts/cut_reader.h"
#include "server/decode/declarations.h"
#include "server/decode/metric_records.h"
#include "server/decode/program_session.h"
#include "server/decode/remote_ends.h"
#include "server/eventloop/event_loop.h"
#include "server/run/clock_sync.h"
#include "server/run/delta_codec.h"
#include "server/run/run.h"
#include "server/tracefile/slot_compression.h"
#include "server/tracefile/tracefile.h"
#include "wire/event_types.h"
#include "wire/limits.h"
#include "wire/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- the parts of a checkpoint ---- */

static bool read_facts(struct decoder *facts, void (*play)(void *, struct chunk), void *context)
{
    struct delta_codec *brief = delta_codec_new();
    struct chunk chunk;
    bool good = true;
    while (good && decoder_remaining(facts)) {
        delta_codec_decode(brief, facts, &chunk);
        good = !facts->error && chunk.kind != CHUNK_NEWS && chunk.kind != CHUNK_STATE;
        if (good)
            play(context, chunk);
    }
    delta_codec_free(brief);
    return good;
}

static bool checkpoint_read_news(struct run *run, struct chunk news,
                                 void (*play)(void *, struct chunk), void *context)
{
    struct decoder in = decoder_init(news.data, news.size);
    uint32_t size = decode_u32(&in);
    const uint8_t *bytes = decode_bytes(&in, size);
    struct decoder facts = decoder_init(bytes, bytes ? size : 0);
    if (!read_facts(&facts, play, context))
        return false;
    for (uint32_t n = decode_u32(&in); n && !in.error; n--) {
        uint32_t process = decode_u32(&in);
        struct site site = {.process = process & ~(SITE_IN_FUNCTION | SITE_CALLED),
                            .address = decode_u64(&in)};
        if (process & SITE_IN_FUNCTION) {
            site.thread = decode_u32(&in);
            site.context = decode_u32(&in);
        }
        site.caller = process & SITE_CALLED ? decode_u32(&in) : 0;
        if (!in.error)
            site_table_add(&run->sites, site);
    }
    while (decoder_remaining(&in)) {
        struct event_id at = decode_event_id(&in);
        char *text = decode_note(&in, LIMIT_TEXT_BYTES * 3);
        if (!in.error && at.line && at.line <= order_line_count(run->order))
            run_add_text(run, at, text);
        free(text);
        if (in.error)
            return false;
    }
    return decoder_finish(&in);
}

/* Reads each process's reported losses, and then the sessions that had hung up.  Skips the losses
 * if run is NULL. */
static const uint8_t *read_begin(struct decoder *in, struct run *run, uint32_t *hangups)
{
    int64_t last_ns = (int64_t)decode_u64(in);
    uint32_t processes = decode_u32(in);
    if (run)
        run->clock.last_ns = last_ns;
    for (uint32_t i = 0; i < processes && !in->error; i++) {
        uint64_t waited = decode_u64(in), dropped = decode_u64(in), unfollowed = decode_u64(in);
        if (run && i < run->processes.count) {
            run->processes.items[i].waited_ns = waited;
            run->processes.items[i].dropped = dropped;
            run->processes.items[i].unfollowed = unfollowed;
        }
    }
    *hangups = decode_u32(in);
    if (in->error || *hangups > decoder_remaining(in) / 8)
        return NULL;
    return decode_bytes(in, 8 * (size_t)*hangups);
}

/* `restored` is called once the order is restored; then `hangup` for each session that had hung up
 * before the journal that follows. */
static bool checkpoint_read_state(struct run *run, struct chunk state,
                                  void (*restored)(void *context),
                                  void (*hangup)(void *context, uint32_t session), void *context)
{
    struct decoder in = decoder_init(state.data, state.size);
    uint32_t hangups;
    const uint8_t *list = read_begin(&in, run, &hangups);
    size_t left = decoder_remaining(&in);
    if (!list || !order_restore(run->order, decode_bytes(&in, left), left))
        return false;
    restored(context);
    for (uint32_t i = 0; i < hangups; i++)
        if (chunk_get_u32(list + 8 * i + 4) < state.thread)
            hangup(context, chunk_get_u32(list + 8 * i));
    return true;
}

/* Returns the sessions that had hung up by then; the caller frees the array. */
static struct checkpoint_hangup *checkpoint_read_hangups(struct chunk state, size_t *count)
{
    struct decoder in = decoder_init(state.data, state.size);
    uint32_t hangups;
    const uint8_t *list = read_begin(&in, NULL, &hangups);
    *count = list ? hangups : 0;
    struct checkpoint_hangup *found = xmalloc((*count + 1) * sizeof *found);
    for (size_t i = 0; i < *count; i++)
        found[i] = (struct checkpoint_hangup){chunk_get_u32(list + 8 * i),
                                              chunk_get_u32(list + 8 * i + 4)};
    return found;
}

static void checkpoint_read_threads(struct run *run, struct chunk threads)
{
    struct decoder in = decoder_init(threads.data, threads.size);
    while (decoder_remaining(&in)) {
        uint32_t session = decode_u32(&in), code = decode_u32(&in);
        struct event_id last = decode_event_id(&in), other = decode_event_id(&in);
        if (in.error)
            return;
        uint8_t doubt = (uint8_t)(session >> THREAD_UNCERTAINTY_SHIFT);
        session &= (1u << THREAD_UNCERTAINTY_SHIFT) - 1;
        if (session >= run->sessions.count || !run->sessions.items[session])
            continue;
        struct thread_state *state = thread_state_for(run->sessions.items[session], code);
        state->last[0] = last;
        state->last[1] = other;
        state->doubt = doubt < UNTRACED_COUNT ? doubt : UNTRACED_NONE;
    }
}

/* ---- replay ---- */

struct trace_replay_state {
    struct run *run;
    const char *trouble;    /* the first thing that could not be read */
    /* epochs: the one that began with the checkpoint, and the oldest one read */
    uint32_t saved, oldest;
    bool ended, lost; /* lost: the checkpoint could not be read */
    struct expiring_parts passed; /* parts that are applied once the checkpoint is read */
    struct cut_reader *cut; /* NULL: the trace is not a cut, so far */
    /* of a run that is resumed: the sessions that had hung up in its checkpoint */
    struct checkpoint_hangup *hangups;
    size_t hangup_count;
    bool resumed;
    uint64_t begin_ns, reported_ns, chunks;
};

#define LOOKS 10000u /* events of one step of the order: a few milliseconds */
#define TELL_NS 500000000u /* interval of progress reports, ns */

static FILE *telling; /* NULL: no process waits for the reports */

void trace_replay_set_progress(FILE *where) { telling = where; }

/* Reports how much of the file was read to the process that started this server and waits. */
static void trace_replay_print_progress(struct trace_replay_state *player)
{
    uint64_t now = loop_clock_ns();
    if (!telling || now - player->begin_ns < 2 * TELL_NS || now - player->reported_ns < TELL_NS)
        return;
    player->reported_ns = now;
    uint64_t at, size;
    tracefile_progress(player->run->trace, &at, &size);
    if (size)
        fprintf(telling, "progress %u\n", (unsigned)(100 * at / size));
}

static struct program_session *session_of(const struct trace_replay_state *player, uint32_t number)
{
    return number < player->run->sessions.count ? player->run->sessions.items[number] : NULL;
}

static void trace_replay_apply_clocks(struct trace_replay_state *player, struct chunk chunk)
{
    struct decoder in = decoder_init(chunk.data, chunk.size);
    if (!clock_exchanges_decode(player->run, &in))
        player->trouble = "unreadable clocks";
}

static void begin_session(struct trace_replay_state *player, struct chunk chunk)
{
    struct hello_message hello;
    struct decoder in = decoder_init(chunk.data, chunk.size);
    bool good = hello_message_decode(&in, &hello) && hello.role == ROLE_PROGRAM;
    if (!good || chunk.session > player->run->processes.count || chunk.session >= LIMIT_LINES)
        player->trouble = "invalid session";
    else if (chunk.session == player->run->processes.count)
        program_session_new(player->run, chunk.session, &hello);
    hello_message_free(&hello);
}

static void trace_replay_read_description(struct trace_replay_state *player, struct chunk chunk)
{
    struct decoder in = decoder_init(chunk.data, chunk.size);
    char *name = decode_string(&in, 256), *text = decode_string(&in, LIMIT_TARGET_BYTES);
    if (!decoder_finish(&in) || !run_describe(player->run, name, text))
        player->trouble = "an unreadable description";
    free(name);
    free(text);
}

static void trace_replay_apply_hangup(void *context, uint32_t number)
{
    struct program_session *session = session_of(context, number);
    if (session)
        program_session_close(session);
}

static void trace_replay_apply_chunk(void *context, struct chunk chunk);

static void trace_replay_apply_steps(void *context, struct chunk chunk)
{
    struct trace_replay_state *player = context;
    if (!program_session_decode_activity(player->run, chunk.data, chunk.size))
        player->trouble = "invalid code segments";
}

static void trace_replay_apply_message(struct trace_replay_state *player, struct chunk chunk);

static void trace_replay_apply_part(void *context, struct chunk chunk)
{
    if (chunk.kind == CHUNK_STEPS)
        trace_replay_apply_steps(context, chunk);
    else
        trace_replay_apply_message(context, chunk);
}

/* Applies expiring records: before sessions hang up, since the records belong to them. */
static void trace_replay_apply_expiring(void *context)
{
    struct trace_replay_state *player = context;
    if (!expiring_parts_apply(&player->passed, player->run, trace_replay_apply_part, player))
        player->trouble = "unreadable records";
}

static void trace_replay_apply_checkpoint(struct trace_replay_state *player, struct chunk chunk)
{
    player->saved = chunk.epoch;
    player->oldest = chunk.thread;
    if (player->resumed)
        player->hangups = checkpoint_read_hangups(chunk, &player->hangup_count);
    if (!checkpoint_read_state(player->run, chunk, trace_replay_apply_expiring,
                               trace_replay_apply_hangup, player)) {
        player->trouble = "the state of the run";
        player->lost = true;
    }
}

static void trace_replay_apply_slots(struct trace_replay_state *player,
                                     struct program_session *session, struct chunk chunk)
{
    const char *error = NULL;
    size_t count;
    struct ring_slot *slots = slot_codec_decode(&chunk, &count);
    if (!slots)
        player->trouble = "events that cannot be decompressed";
    else if (!program_session_decode_slots(session, chunk.thread, slots, count, &error))
        player->trouble = error;
    free(slots);
}

/* A stale message adds nothing, as the checkpoint has newer sums. */
static void trace_replay_apply_profile(struct trace_replay_state *player,
                                       struct program_session *session, struct chunk chunk,
                                       bool stale)
{
    const char *error = NULL;
    if (!stale &&
        !program_session_decode_profile(session, chunk.thread, chunk.data, chunk.size, &error))
        player->trouble = error;
}

static void trace_replay_apply_metrics(struct trace_replay_state *player,
                                       struct program_session *session, struct chunk chunk,
                                       bool stale)
{
    const char *error = NULL;
    if (!stale &&
        !program_session_decode_metrics(session, chunk.thread, chunk.data, chunk.size, &error))
        player->trouble = error;
}

/* Applies metrics that did not come from a program. */
static bool trace_replay_apply_external(struct trace_replay_state *player, struct chunk chunk,
                                        bool stale)
{
    struct decoder in = decoder_init(chunk.data, chunk.size);
    if (chunk.session != PROGRAM_METRICS_NO_PROCESS ||
        (chunk.kind != MESSAGE_METRIC && chunk.kind != MESSAGE_SAMPLED_CELLS))
        return false;
    if (!stale && !(chunk.kind == MESSAGE_METRIC
                        ? metric_records_decode_name(player->run, PROGRAM_METRICS_NO_PROCESS,
                                                     OS_METRICS_NO_PROCESS, &in)
                        : metric_records_decode_samples(player->run, PROGRAM_METRICS_NO_PROCESS,
                                                        OS_METRICS_NO_PROCESS, &in)))
        player->trouble = in.error;
    return true;
}

static void trace_replay_apply_calls(struct trace_replay_state *player,
                                     struct program_session *session, struct chunk chunk,
                                     bool stale)
{
    const char *error = NULL;
    if (!stale &&
        !program_session_decode_calls(session, chunk.thread, chunk.data, chunk.size, &error))
        player->trouble = error;
}

static void trace_replay_apply_switches(struct trace_replay_state *player,
                                        struct program_session *session, struct chunk chunk)
{
    const char *error = NULL;
    if (!program_session_decode_switches(session, chunk.data, chunk.size, &error))
        player->trouble = error;
}

static void trace_replay_apply_placements(struct trace_replay_state *player,
                                          struct program_session *session, struct chunk chunk,
                                          bool stale)
{
    const char *error = NULL;
    if (!stale &&
        !program_session_decode_carriers(session, chunk.thread, chunk.data, chunk.size, &error))
        player->trouble = error;
}

/* Applies a program's message, from before or after the checkpoint. */
static void trace_replay_apply_message(struct trace_replay_state *player, struct chunk chunk)
{
    const char *error = NULL;
    bool stale = chunk.epoch && chunk.epoch < player->saved;
    if (trace_replay_apply_external(player, chunk, stale))
        return;
    struct program_session *session = session_of(player, chunk.session);
    if (!session) {
        player->trouble = "events of a program that never began";
        return;
    }
    program_session_batch(session, chunk.epoch, stale);
    if (chunk.kind == MESSAGE_SLOTS || chunk.kind == CHUNK_SLOTS)
        trace_replay_apply_slots(player, session, chunk);
    else if (chunk.kind == CHUNK_SUMS)
        trace_replay_apply_profile(player, session, chunk, stale);
    else if (chunk.kind == CHUNK_METERS)
        trace_replay_apply_metrics(player, session, chunk, stale);
    else if (chunk.kind == CHUNK_ENTRIES)
        trace_replay_apply_calls(player, session, chunk, stale);
    else if (chunk.kind == CHUNK_SWITCHES)
        trace_replay_apply_switches(player, session, chunk);
    else if (chunk.kind == CHUNK_SPANS)
        trace_replay_apply_placements(player, session, chunk, stale);
    else if (!program_session_decode_message(session, chunk.kind, chunk.thread, chunk.data,
                                             chunk.size, &error))
        player->trouble = error;
}

static void trace_replay_apply_end(struct trace_replay_state *player, struct chunk chunk)
{
    struct decoder in = decoder_init(chunk.data, chunk.size);
    player->run->clock.ended_ns = (int64_t)decode_u64(&in);
    if (!decoder_finish(&in))
        player->trouble = "invalid end";
}

static void trace_replay_apply_cut(struct trace_replay_state *player, struct chunk chunk)
{
    if (!player->cut)
        player->cut = cut_reader_new(player->run);
    if (!cut_reader_apply(player->cut, chunk))
        player->trouble = "invalid events of a cut";
}

static void trace_replay_apply_chunk(void *context, struct chunk chunk)
{
    struct trace_replay_state *player = context;
    bool stale = chunk.epoch && chunk.epoch < player->saved;
    if (chunk.kind == CHUNK_AGENT || chunk.kind == CHUNK_FORWARDED)
        return; /* only forwarding needs these */
    if (chunk.kind == CHUNK_REACHED) {
        if (!stale && !agent_position_apply(&player->run->agent_positions, chunk.data, chunk.size))
            player->trouble = "invalid mark";
        return;
    }
    player->ended = chunk.kind == CHUNK_END;
    if (player->lost)
        return;
    switch (chunk.kind) {
    case CHUNK_NEWS:
        if (!checkpoint_read_news(player->run, chunk, trace_replay_apply_chunk, player))
            player->trouble = "unreadable names";
        break;
    case CHUNK_STATE:
        trace_replay_apply_checkpoint(player, chunk);
        break;
    case CHUNK_PASSED:
        if (!expiring_parts_note(&player->passed, chunk))
            player->trouble = "invalid records";
        break;
    case CHUNK_SESSION:
        if (!stale)
            begin_session(player, chunk);
        break;
    case CHUNK_TARGET:
        if (!stale)
            trace_replay_read_description(player, chunk);
        break;
    case CHUNK_CLOCKS:
        if (!stale)
            trace_replay_apply_clocks(player, chunk);
        break;
    case CHUNK_ALONE:
        if (!stale && !remote_end_decode_alone(player->run, chunk.data, chunk.size))
            player->trouble = "invalid stream";
        break;
    case CHUNK_THREADS:
        if (chunk.epoch == player->oldest)
            checkpoint_read_threads(player->run, chunk);
        break;
    case CHUNK_HANGUP:
        trace_replay_apply_hangup(player, chunk.session);
        break;
    case CHUNK_END:
        trace_replay_apply_end(player, chunk);
        break;
    case CHUNK_CUT:
    case CHUNK_EVENTS:
    case CHUNK_LEFT_OUT:
        trace_replay_apply_cut(player, chunk);
        break;
    default:
        trace_replay_apply_message(player, chunk);
    }
}

/* Does all work that a chunk causes before the next one. */
static void trace_replay_apply_all(void *context, struct chunk chunk)
{
    struct trace_replay_state *player = context;
    trace_replay_apply_chunk(player, chunk);
    while (!run_step(player->run, LOOKS))
        trace_replay_print_progress(player);
    if (player->chunks++ % 64 == 0)
        trace_replay_print_progress(player);
}

struct run *trace_replay(const char *path, const char **why)
{
    struct tracefile *file = tracefile_open(path, why);
    if (!file)
        return NULL;
    struct trace_replay_state player = {.run = run_new(tracefile_run(file), 1, file),
                                        .begin_ns = loop_clock_ns()};
    run_set_wait_for_missing(player.run);
    char *damage;
    tracefile_replay(file, trace_replay_apply_all, &player, &damage);
    for (size_t i = 0; i < player.run->sessions.count; i++) {
        if (player.run->sessions.items[i])
            player.run->file.unfinished = true;
        program_session_free(player.run->sessions.items[i]);
    }
    free(player.passed.items);
    cut_reader_free(player.cut);
    run_pack(player.run);
    player.run->programs.connected = 0; /* a file has no connected programs */
    if (player.lost) {
        free(damage);
        run_free(player.run);
        *why = "the trace file is damaged: its state cannot be read";
        return NULL;
    }
    player.run->file.path = xstrdup(path);
    player.run->file.unfinished |= !player.ended;
    player.run->file.still_written = player.run->file.unfinished && tracefile_is_written(file);
    player.run->file.damage = damage;
    if (!damage && player.trouble)
        player.run->file.damage = xasprintf("damaged: %s", player.trouble);
    return player.run;
}

struct run *trace_replay_resumed(struct tracefile *file, const char *path, uint64_t keep_bytes,
                                 const char **why)
{
    struct trace_replay_state player = {
        .run = run_new(tracefile_run(file), 1, file), .begin_ns = loop_clock_ns(), .resumed = true};
    struct run *run = player.run;
    char *damage;
    run_set_wait_for_missing(run);
    tracefile_replay_known(file, trace_replay_apply_all, &player, &damage);
    *why = damage || player.trouble || player.lost ? "it is damaged" : NULL;
    if (!*why) {
        run->file.path = xstrdup(path);
        run_is_live(run);
        checkpoint_begin(run, keep_bytes);
        checkpoint_resume(run, tracefile_updates(file), player.hangups, player.hangup_count);
    }
    free(player.passed.items);
    cut_reader_free(player.cut);
    free(player.hangups);
    free(damage);
    if (!*why)
        return run;
    run_free(run);
    return NULL;
}
