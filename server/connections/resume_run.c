#define _GNU_SOURCE
#include "server/connections/resume_run.h"

#include "base/alloc.h"
#include "server/checkpoint/run_registry.h"
#include "server/checkpoint/trace_replay.h"
#include "server/eventloop/event_loop.h"
#include "server/connections/run_journal.h"
#include "server/connections/agent_connection.h"
#include "server/connections/event_server.h"
#include "server/tracefile/tracefile.h"
#include "server/journal/journal_write.h"
#include "server/journal/capture.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The journal behind the state: what of it must be known before more is taken. */
struct journal_tail {
    struct journal_word { /* REACHED, HANGUP or the name of a TARGET */
        uint16_t kind;
        uint32_t session;
        uint8_t *data;
        uint32_t size;
    } *words;
    size_t word_count, word_room;
    struct handoff_extent *stretches; /* to be delivered */
    size_t stretch_count, stretch_room;
    uint32_t sessions;
    uint64_t bytes;
};

static void note_word(struct journal_tail *tail, const struct chunk *chunk)
{
    tail->words =
        array_reserve(tail->words, &tail->word_room, tail->word_count + 1, sizeof *tail->words);
    struct journal_word *word = &tail->words[tail->word_count++];
    *word =
        (struct journal_word){.kind = chunk->kind, .session = chunk->session, .size = chunk->size};
    word->data = xmalloc((size_t)chunk->size + 1);
    if (chunk->size)
        memcpy(word->data, chunk->data, chunk->size);
}

static void note_place(struct journal_tail *tail, uint64_t at, const struct chunk *chunk)
{
    uint64_t size = CHUNK_HEAD_BYTES + (uint64_t)chunk->size;
    struct handoff_extent *last =
        tail->stretch_count ? &tail->stretches[tail->stretch_count - 1] : NULL;
    tail->bytes += size;
    if (last && last->epoch == chunk->epoch && last->at + last->size == at &&
        last->size + size <= HANDOFF_BUFFER_BYTES) {
        last->size += size;
        return;
    }
    tail->stretches =
        array_reserve(tail->stretches, &tail->stretch_room, tail->stretch_count + 1, sizeof *last);
    tail->stretches[tail->stretch_count++] =
        (struct handoff_extent){.at = at, .size = size, .epoch = chunk->epoch};
}

static void resume_run_visit_chunk(void *context, uint64_t at, struct chunk chunk)
{
    struct journal_tail *tail = context;
    if (chunk.kind == CHUNK_END || chunk.kind == CHUNK_AGENT)
        return;
    if (chunk.kind == CHUNK_REACHED || chunk.kind == CHUNK_HANGUP || chunk.kind == CHUNK_TARGET)
        note_word(tail, &chunk);
    if (chunk.kind == CHUNK_SESSION && chunk.session >= tail->sessions)
        tail->sessions = chunk.session + 1;
    note_place(tail, at, &chunk);
}

static void tail_free(struct journal_tail *tail)
{
    for (size_t i = 0; i < tail->word_count; i++)
        free(tail->words[i].data);
    free(tail->words);
    free(tail->stretches);
}

static void know_target(struct capture *taking, const struct journal_word *word)
{
    struct decoder in = decoder_init(word->data, word->size);
    char *name = decode_string(&in, 256);
    if (!in.error && !journal_is_described(taking, name))
        journal_note_described(taking, name);
    free(name);
}

/* How far the streams are in all of the journal; false: that cannot be. */
static bool resume_run_restore_positions(struct run *run, const struct journal_tail *tail,
                                         struct agent_positions *reached)
{
    bool good = true;
    *reached = agent_positions_copy(&run->agent_positions);
    for (size_t i = 0; i < tail->word_count && good; i++) {
        const struct journal_word *word = &tail->words[i];
        if (word->kind == CHUNK_REACHED)
            good = agent_position_apply(reached, word->data, word->size);
        else if (word->kind == CHUNK_HANGUP)
            agent_position_note_hangup(reached, word->session);
    }
    return good && reached->count;
}

/* As if its journal had just been taken. */
static void resume_run_attach_capture(struct server *server, struct run *run,
                                      const struct journal_tail *tail)
{
    struct capture *taking = capture_new(run->trace, run->file.path, server->runs.keep_bytes);
    run_journal_attach(run, taking);
    taking->sessions = (uint32_t)run->processes.count;
    if (taking->sessions < tail->sessions)
        taking->sessions = tail->sessions;
    for (size_t i = 0; i < run->targets.count; i++)
        journal_note_described(taking, run->targets.items[i]->name);
    for (size_t i = 0; i < tail->word_count; i++)
        if (tail->words[i].kind == CHUNK_TARGET)
            know_target(taking, &tail->words[i]);
    for (size_t i = 0; i < tail->stretch_count; i++) {
        struct handoff_extent stretch = tail->stretches[i];
        stretch.taken_ns = loop_clock_ns();
        handoff_queue_push_written(&taking->hand, stretch);
    }
    /* no peer is left that could report its end */
    run->status.ending = run->processes.count && !run->programs.connected && !tail->sessions;
    server->behind = true;
}

static bool resume_run_step(struct server *server, struct tracefile *file,
                            const struct journal_tail *tail, const char **why)
{
    const char *path = server->runs.output;
    struct run *run = trace_replay_resumed(file, path, server->runs.keep_bytes, why);
    struct agent_positions reached = {0};
    if (!run)
        return false;
    bool good = resume_run_restore_positions(run, tail, &reached);
    *why = "how far agents were is not in it";
    if (good) {
        run_called(run, reached.items[0].run);
        run->number = (unsigned)server->runs.count + 1;
        run->status.unclaimed = true;
        resume_run_attach_capture(server, run, tail);
        run_registry_add(&server->runs, run);
        agent_connection_resume(server, run, &reached);
        if (!server->quiet)
            server_log(
                "run %u \"%s\" resumed: %s: %llu events ordered, %llu bytes of journal to replay",
                run->number, run->name, path, (unsigned long long)order_figures(run->order).events,
                (unsigned long long)tail->bytes);
        server->resumed = reached;
    } else {
        run_free(run);
        agent_positions_free(&reached);
    }
    return good;
}

#define OTHER_MS 2000 /* the time within which a killed server's file lock is released */

static bool is_written(const char *path)
{
    bool written = true;
    for (unsigned ms = 0; ms < OTHER_MS && written; ms += 20) {
        written = output_path_is_written(path);
        if (written)
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return written;
}

static bool resume_run_reject(const char *path, struct error *error)
{
    error_set(error, "%s: in use by another server", path);
    return false;
}

bool resume_run(struct server *server, struct error *error)
{
    const char *path = server->runs.output, *why = NULL;
    struct journal_tail tail = {0};
    /* where the oldest part is forgotten: of what is there it is not known which that is */
    if (server->runs.keep_bytes || !output_path_holds_sent(path))
        return output_path_clear(path, error);
    if (is_written(path))
        return resume_run_reject(path, error);
    struct tracefile *file = tracefile_resume(path, resume_run_visit_chunk, &tail, &why);
    bool good = file && resume_run_step(server, file, &tail, &why);
    tail_free(&tail);
    if (good)
        return true;
    if (output_path_is_written(path)) /* since just now */
        return resume_run_reject(path, error);
    server_log("%s: cannot resume (%s); starting a new file", path, why);
    return output_path_clear(path, error);
}
