#define _GNU_SOURCE
#include "server/connections/journal_reader.h"

#include "base/alloc.h"
#include "server/checkpoint/checkpoint_write.h"
#include "server/checkpoint/run_registry.h"
#include "server/connections/agent_connection.h"
#include "server/connections/connection.h"
#include "server/connections/event_server.h"
#include "server/connections/run_journal.h"
#include "server/decode/metric_records.h"
#include "server/decode/program_session.h"
#include "server/decode/remote_ends.h"
#include "server/eventloop/event_loop.h"
#include "server/forwarding/agent.h"
#include "server/forwarding/forwarded_stream.h"
#include "server/journal/capture.h"
#include "server/journal/forwarded_source.h"
#include "server/queries/saved_results.h"
#include "server/run/clock_sync.h"
#include "server/tracefile/slot_compression.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOKS 1000u /* of an order, between two looks at the clock */

/* ---- the next chunk ---- */

static bool read_back(struct run *run)
{
    struct capture *taking = run_journal_capture(run);
    taking->read = array_reserve(taking->read, &taking->read_room, taking->now->size, 1);
    taking->bytes = taking->read;
    return tracefile_read_back(run->trace, taking->now->at, taking->read, taking->now->size);
}

static void end_stretch(struct capture *taking)
{
    handoff_queue_mark_delivered(&taking->hand, taking->now->size - taking->offset);
    handoff_extent_free(taking->now);
    taking->now = NULL;
}

/* What was written cannot be read any more. */
static void cannot_read(struct run *run)
{
    struct capture *taking = run_journal_capture(run);
    server_log("%s: %llu bytes of its journal are unreadable", run->file.path,
               (unsigned long long)(taking->now->size - taking->offset));
    free(run->file.damage);
    run->file.damage = xasprintf("damaged at byte %llu: %llu bytes of the journal are unreadable",
                                 (unsigned long long)(taking->now->at + taking->offset),
                                 (unsigned long long)(taking->now->size - taking->offset));
    end_stretch(taking);
}

static bool next_stretch(struct run *run)
{
    struct capture *taking = run_journal_capture(run);
    taking->now = handoff_queue_pop(&taking->hand);
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
    struct capture *taking = run_journal_capture(run);
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
           (packed ? (uint64_t)slot_codec_count(chunk) * SLOT_BYTES : (uint64_t)chunk->size);
}

/* Records that the chunk was delivered. */
static void journal_reader_note_delivered(struct run *run, const struct chunk *chunk)
{
    struct capture *taking = run_journal_capture(run);
    uint64_t bytes = CHUNK_HEAD_BYTES + (uint64_t)chunk->size;
    taking->offset += bytes;
    if (!taking->now->unwritten)
        tracefile_delivered(run->trace, taking->now->epoch, taking->now->at + taking->offset,
                            weight_of(chunk));
    handoff_queue_mark_delivered(&taking->hand, bytes);
    if (taking->offset == taking->now->size)
        end_stretch(taking);
}

/* ---- delivery ---- */

/* Rejects the sender of a bad chunk: a program is dropped when its connection is next checked. */
static void journal_reader_reject_program(struct server *server, const struct run *run,
                                          const struct chunk *chunk, const char *why)
{
    struct connection *peer = server->peers;
    while (peer && (!peer->program || peer->run != run || peer->program->session != chunk->session))
        peer = peer->next;
    if (!peer)
        agent_connection_reject(server, run, chunk->session, why);
    if (!peer || peer->wrong)
        return;
    peer->wrong = why;
    peer->wrong_kind = chunk->kind == CHUNK_SLOTS ? MESSAGE_SLOTS : chunk->kind;
}

static void begin_session(struct run *run, struct chunk chunk)
{
    struct hello_message hello;
    struct decoder in = decoder_init(chunk.data, chunk.size);
    if (hello_message_decode(&in, &hello)) {
        program_session_new(run, chunk.session, &hello);
        run_fact(run, chunk);
        run->status.finished = run->status.ending = false;
        run->clock.ended_ns = 0;
    }
    hello_message_free(&hello);
}

static void journal_reader_apply_description(struct run *run, struct chunk chunk)
{
    struct decoder in = decoder_init(chunk.data, chunk.size);
    char *name = decode_string(&in, 256), *text = decode_string(&in, LIMIT_TARGET_BYTES);
    if (decoder_finish(&in) && run_describe(run, name, text))
        run_fact(run, chunk);
    free(name);
    free(text);
}

static const char too_much_waits[] =
    "too many events wait for partners that never arrived (memory limit)";

static bool journal_reader_deliver_slots(struct run *run, struct program_session *session,
                                         struct chunk chunk, const char **why)
{
    size_t count;
    struct ring_slot *slots = slot_codec_decode(&chunk, &count);
    *why = "events that cannot be decompressed";
    bool good = slots && program_session_decode_slots(session, chunk.thread, slots, count, why);
    free(slots);
    if (good && run_pending_limit_exceeded(run)) {
        *why = too_much_waits;
        return false;
    }
    return good;
}

/* Delivers metrics that did not come from a program. */
static bool journal_reader_deliver_external(struct run *run, struct chunk chunk)
{
    struct decoder in = decoder_init(chunk.data, chunk.size);
    bool good = chunk.kind == MESSAGE_METRIC
                    ? metric_records_decode_name(run, PROGRAM_METRICS_NO_PROCESS,
                                                 OS_METRICS_NO_PROCESS, &in)
                    : metric_records_decode_samples(run, PROGRAM_METRICS_NO_PROCESS,
                                                    OS_METRICS_NO_PROCESS, &in);
    if (good)
        run_fact(run, chunk);
    run->generation++;
    return true;
}

static bool journal_reader_deliver_placements(struct run *run, struct program_session *session,
                                              struct chunk chunk, const char **why)
{
    bool good = program_session_decode_carriers(session, chunk.thread, chunk.data, chunk.size, why);
    if (good)
        run_fact(run, chunk);
    return good;
}

static bool journal_reader_deliver_calls(struct run *run, struct program_session *session,
                                         struct chunk chunk, const char **why)
{
    bool good = program_session_decode_calls(session, chunk.thread, chunk.data, chunk.size, why);
    if (good)
        run_fact(run, chunk);
    return good;
}

static bool journal_reader_deliver_message(struct run *run, struct chunk chunk, const char **why)
{
    if (chunk.session == PROGRAM_METRICS_NO_PROCESS)
        return journal_reader_deliver_external(run, chunk);
    struct program_session *session =
        chunk.session < run->sessions.count ? run->sessions.items[chunk.session] : NULL;
    if (!session)
        return true; /* it was refused before */
    program_session_batch(session, tracefile_epoch(run->trace), false);
    if (chunk.kind == MESSAGE_SLOTS || chunk.kind == CHUNK_SLOTS)
        return journal_reader_deliver_slots(run, session, chunk, why);
    if (chunk.kind == CHUNK_SUMS)
        return program_session_decode_profile(session, chunk.thread, chunk.data, chunk.size, why);
    if (chunk.kind == CHUNK_METERS)
        return program_session_decode_metrics(session, chunk.thread, chunk.data, chunk.size, why);
    if (chunk.kind == CHUNK_ENTRIES)
        return journal_reader_deliver_calls(run, session, chunk, why);
    if (chunk.kind == CHUNK_SPANS)
        return journal_reader_deliver_placements(run, session, chunk, why);
    if (chunk.kind == CHUNK_SWITCHES)
        return program_session_decode_switches(session, chunk.data, chunk.size, why);
    if (chunk.kind == CHUNK_HANGUP || chunk.kind == MESSAGE_LOSSES)
        run_fact(run, chunk);
    if (chunk.kind == CHUNK_HANGUP)
        agent_position_note_hangup(&run->agent_positions, chunk.session);
    if (chunk.kind != CHUNK_HANGUP)
        return program_session_decode_message(session, chunk.kind, chunk.thread, chunk.data,
                                              chunk.size, why);
    program_session_close(session);
    return true;
}

static void journal_reader_deliver_clocks(struct run *run, struct chunk chunk)
{
    struct decoder in = decoder_init(chunk.data, chunk.size);
    if (clock_exchanges_decode(run, &in))
        run_fact(run, chunk);
}

static void journal_reader_deliver_chunk(struct server *server, struct run *run, struct chunk chunk)
{
    const char *why;
    if (chunk.kind == CHUNK_SESSION)
        begin_session(run, chunk);
    else if (chunk.kind == CHUNK_TARGET)
        journal_reader_apply_description(run, chunk);
    else if (chunk.kind == CHUNK_REACHED)
        agent_position_apply(&run->agent_positions, chunk.data, chunk.size);
    else if (chunk.kind == CHUNK_CLOCKS)
        journal_reader_deliver_clocks(run, chunk);
    else if (chunk.kind == CHUNK_ALONE)
        remote_end_decode_alone(run, chunk.data, chunk.size);
    else if (!journal_reader_deliver_message(run, chunk, &why))
        journal_reader_reject_program(server, run, &chunk, why);
}

/* ---- the end ---- */

/* False: its last state is not written yet. */
static bool journal_reader_finish_run(struct server *server, struct run *run,
                                      struct loop_share share)
{
    if (!run->status.live)
        return true;
    if (!checkpoint_finish(run, share))
        return false;
    run_journal_end(server, run);
    run->status.finished = true;
    run->status.ending = false;
    if (run->report)
        run_registry_report(run);
    else if (!server->stopping && saved_results_apply(run))
        run_registry_prepare(run);
    return true;
}

/* ---- in time ---- */

/* Does the work that delivery has caused; returns true if all of it was done within the share. */
static bool journal_reader_process_backlog(struct server *server, struct run *run,
                                           struct loop_share share)
{
    bool left = run->programs.leaving > 0, all;
    while (!(all = run_step(run, LOOKS)) && loop_share_left(share))
        ;
    run->status.ending |= all && left && run->programs.connected == 0;
    if (all && run->status.ending && journal_reader_is_done(run))
        all = journal_reader_finish_run(server, run, share);
    return all;
}

bool journal_reader_is_done(const struct run *run)
{
    return !run_journal_capture(run) || handoff_queue_lag(&run_journal_capture(run)->hand) == 0;
}

/* Tests stop the order while a file is there. */
static bool journal_reader_is_paused(void)
{
    static const char *file;
    static bool asked;
    if (!asked)
        file = getenv("POET_TEST_ORDER_PAUSE");
    asked = true;
    return file && access(file, F_OK) == 0;
}

/* Does the work that the last chunk has caused, and delivers one more; returns true if there was
 * one. */
static bool journal_reader_deliver_one(struct server *server, struct run *run,
                                       struct loop_share share)
{
    struct chunk chunk;
    if (!journal_reader_process_backlog(server, run, share))
        return true;
    if (!run_journal_capture(run) || !next_chunk(run, &chunk))
        return false;
    journal_reader_deliver_chunk(server, run, chunk);
    journal_reader_note_delivered(run, &chunk);
    checkpoint_poll(run);
    return true;
}

/* Bounds delivery by the progress of saving and discarding, not by time: returns true if a step
 * of these must come first. */
static bool catch_up(struct run *run)
{
    if (!run->status.live || !checkpoint_is_overdue(run))
        return false;
    checkpoint_step(run, (struct loop_share){0});
    return true;
}

bool journal_reader_step(struct server *server, struct loop_share share, struct loop_share little)
{
    struct run_registry *runs = &server->runs;
    bool more = !journal_reader_is_paused(), later = false;
    while (more && loop_share_left(share)) {
        more = later = false;
        for (size_t i = 0; i < runs->count && loop_share_left(share); i++) {
            struct run *run = runs->items[(server->tell_first + i) % runs->count];
            if (catch_up(run))
                more = true;
            else if (checkpoint_is_urgent(run) && !loop_share_left(little))
                later = true;
            else
                more |= run->status.live && journal_reader_deliver_one(server, run, share);
        }
        server->tell_first++;
    }
    return !more && !later;
}

bool journal_reader_finish(struct server *server, struct run *run, struct loop_share share)
{
    while (!journal_reader_is_paused() && loop_share_left(share) &&
           journal_reader_deliver_one(server, run, share))
        ;
    return journal_reader_is_done(run) && run->programs.leaving == 0 && !run->status.ending;
}

void journal_reader_measure_lag(struct run *run)
{
    if (!run_journal_capture(run))
        return;
    uint64_t since = capture_oldest_ns(run_journal_capture(run)), now = loop_clock_ns();
    run->lag.ns = since && since < now ? now - since : 0;
    run->lag.bytes = handoff_queue_lag(&run_journal_capture(run)->hand);
}

/* ---- forwarding ---- */

/* Drops the undelivered extents: they are in the journal, from which they are forwarded. */
static void journal_forwarder_release_runs(struct run *run)
{
    struct handoff_extent *stretch;
    while ((stretch = handoff_queue_pop(&run_journal_capture(run)->hand)) != NULL) {
        handoff_queue_mark_delivered(&run_journal_capture(run)->hand, stretch->size);
        handoff_extent_free(stretch);
    }
}

/* Ends the journal of a run that its programs have left; a later program of the same run begins
 * another one. */
static void journal_forwarder_end_run(struct server *server, size_t i)
{
    struct run *run = server->runs.items[i];
    char *path = xstrdup(run->file.path);
    run_journal_end(server, run);
    run_free(run);
    memmove(server->runs.items + i, server->runs.items + i + 1,
            (--server->runs.count - i) * sizeof *server->runs.items);
    agent_end(server->agent, path);
    free(path);
}

bool journal_forwarder_step(struct server *server, struct loop_share share)
{
    for (size_t i = 0; i < server->runs.count; i++) {
        struct run *run = server->runs.items[i];
        if (!run_journal_capture(run))
            continue;
        journal_forwarder_release_runs(run);
        if (run_journal_capture(run)->sessions && !run_journal_capture(run)->programs)
            journal_forwarder_end_run(server, i--);
    }
    return agent_step(server->agent, share);
}

void journal_forwarder_finish(struct server *server)
{
    journal_forwarder_step(server, loop_share_new(0));
    for (size_t i = server->runs.count; i-- > 0;)
        journal_forwarder_end_run(server, i);
    agent_disconnect(server->agent);
}

/* ---- timeout ----
 *
 * Waiting for the other end of a stream between hosts must end: no peer reports that no
 * program of the run has it.
 *
 * Agents' chunks normally arrive after a few milliseconds, or some hundred if a queue is long; a
 * lost packet or a restored link delays TCP by a second or a few.  Pending events are not drawn,
 * so a longer timeout would make the user of a live diagram wait. */

#define TIMEOUT_NS 5000000000u

/* Writes the timeout to the journal, so that a later reader gets the same order. */
static bool stream_timeout_write_journal(struct server *server, struct run *run, uint64_t stream)
{
    struct encoder out = {0};
    remote_end_encode_alone(&out, stream);
    bool noted = run_journal_append(server, run, CHUNK_ALONE, 0, &out);
    server->behind |= noted;
    encoder_free(&out);
    return noted;
}

void stream_timeout_check(struct server *server)
{
    uint64_t now = loop_clock_ns(), stream;
    for (size_t i = 0; i < server->runs.count; i++) {
        struct run *run = server->runs.items[i];
        if (!run->status.live || !run_journal_capture(run) || run->status.finished ||
            capture_is_ahead(run_journal_capture(run)))
            continue;
        while (order_stream_late(run->order, now, TIMEOUT_NS, &stream) &&
               stream_timeout_write_journal(server, run, stream))
            ;
    }
}

/* ---- merging ---- */

#define BATCH_BYTES (256u << 10)

struct merged_journal {
    const char *path;
    struct outgoing_stream *stream;
    struct forwarded_source *origin;
    bool begun, done;
};

static bool journal_merge_report_error(const char *path, const char *why)
{
    fprintf(stderr, "poet merge: %s: %s\n", path, why);
    return false;
}

static bool open_all(struct merged_journal *all, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *why;
        all[i].stream = outgoing_stream_of_file(all[i].path, &why);
        if (!all[i].stream)
            return journal_merge_report_error(all[i].path, why);
        for (size_t k = 0; k < i; k++)
            if (all[i].stream->run && all[k].stream->run &&
                memcmp(all[i].stream->id, all[k].stream->id, FORWARD_ID_BYTES) == 0)
                return journal_merge_report_error(all[i].path, "duplicate journal");
        all[i].origin = forwarded_source_new(all[i].stream->id);
    }
    return true;
}

/* Writes the next chunks of a file to the journal; at first only until its first program is
 * there, so that no wait for a program of a later file times out. */
static bool journal_merge_take_chunks(struct server *server, struct run *run,
                                      struct merged_journal *file, struct encoder *raw)
{
    bool begun = file->begun;
    struct forwarded_chunk chunk;
    uint64_t first = file->stream->next;
    uint32_t count = 0;
    const char *why = NULL;
    raw->size = 0;
    for (; raw->size < BATCH_BYTES && begun == file->begun &&
           outgoing_stream_next(file->stream, &chunk);
         count++) {
        encode_forwarded_chunk(raw, &chunk);
        file->begun |= chunk.kind == CHUNK_SESSION;
    }
    file->done = !count;
    if (!count)
        return true;
    capture_lock(server->taker);
    enum receive_result took = forwarded_source_receive(file->origin, run_journal_capture(run),
                                                        first, count, raw->data, raw->size, &why);
    capture_unlock(server->taker);
    if (took == RECEIVE_DONE)
        return true;
    return journal_merge_report_error(took == RECEIVE_FULL ? run->file.path : file->path,
                                      took == RECEIVE_FULL ? strerror(errno) : why);
}

/* In turn: what one did waits in the order for what another did before. */
static bool journal_merge_take_all(struct server *server, struct run *run,
                                   struct merged_journal *all, size_t count)
{
    struct encoder raw = {0};
    bool more = true, good = true;
    struct loop_share share = loop_share_new(UINT64_MAX / 2);
    while (more && good) {
        more = false;
        for (size_t i = 0; i < count && good; i++) {
            good = all[i].done || journal_merge_take_chunks(server, run, &all[i], &raw);
            more |= !all[i].done;
        }
        while (good && !journal_reader_step(server, share, share))
            ;
    }
    encoder_free(&raw);
    return good && journal_reader_finish(server, run, share);
}

bool journal_merge(struct server *server, const char *const *files, size_t count)
{
    struct merged_journal *all = xcalloc(count, sizeof *all);
    char why[512];
    struct run *run = NULL;
    for (size_t i = 0; i < count; i++)
        all[i].path = files[i];
    bool good = open_all(all, count);
    if (good) {
        const char *key = all[0].stream->run;
        run = run_registry_find(&server->runs, key && *key ? key : "merged", why, sizeof why);
        good = run || journal_merge_report_error(server->runs.output, why);
    }
    if (good)
        run_journal_open(server, run);
    good = good && journal_merge_take_all(server, run, all, count);
    for (size_t i = 0; i < count; i++) {
        if (good && journal_follower_is_truncated(all[i].stream->following))
            journal_merge_report_error(all[i].path,
                                       "is damaged or truncated; data up to that point was used");
        if (all[i].stream)
            outgoing_stream_free(all[i].stream);
        if (all[i].origin)
            forwarded_source_free(all[i].origin);
    }
    free(all);
    return good;
}
