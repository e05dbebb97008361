#define _GNU_SOURCE
#include "server/peers/resuming.h"

#include "memory/memory.h"
#include "server/file/output.h"
#include "server/file/replay.h"
#include "server/loop/log.h"
#include "server/peers/agents.h"
#include "server/peers/server.h"
#include "server/store/resuming.h"
#include "server/taking/journal.h"
#include "server/taking/taking.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The journal behind the state: what of it must be known before more is taken. */
struct tail {
    struct word { /* REACHED, HANGUP or the name of a TARGET */
        uint16_t kind;
        uint32_t session;
        uint8_t *data;
        uint32_t size;
    } *words;
    size_t word_count, word_room;
    struct stretch *stretches; /* to be told */
    size_t stretch_count, stretch_room;
    uint32_t sessions;
    uint64_t bytes;
};

static void note_word(struct tail *tail, const struct chunk *chunk)
{
    tail->words = grow(tail->words, &tail->word_room, tail->word_count + 1, sizeof *tail->words);
    struct word *word = &tail->words[tail->word_count++];
    *word = (struct word){.kind = chunk->kind, .session = chunk->session, .size = chunk->size};
    word->data = memory_bytes((size_t)chunk->size + 1);
    if (chunk->size)
        memcpy(word->data, chunk->data, chunk->size);
}

static void note_place(struct tail *tail, uint64_t at, const struct chunk *chunk)
{
    uint64_t size = CHUNK_HEAD_BYTES + (uint64_t)chunk->size;
    struct stretch *last = tail->stretch_count ? &tail->stretches[tail->stretch_count - 1] : NULL;
    tail->bytes += size;
    if (last && last->epoch == chunk->epoch && last->at + last->size == at &&
        last->size + size <= BUFFER_BYTES) {
        last->size += size;
        return;
    }
    tail->stretches =
        grow(tail->stretches, &tail->stretch_room, tail->stretch_count + 1, sizeof *last);
    tail->stretches[tail->stretch_count++] =
        (struct stretch){.at = at, .size = size, .epoch = chunk->epoch};
}

static void visit(void *context, uint64_t at, struct chunk chunk)
{
    struct tail *tail = context;
    if (chunk.kind == CHUNK_END || chunk.kind == CHUNK_AGENT)
        return;
    if (chunk.kind == CHUNK_REACHED || chunk.kind == CHUNK_HANGUP || chunk.kind == CHUNK_TARGET)
        note_word(tail, &chunk);
    if (chunk.kind == CHUNK_SESSION && chunk.session >= tail->sessions)
        tail->sessions = chunk.session + 1;
    note_place(tail, at, &chunk);
}

static void tail_free(struct tail *tail)
{
    for (size_t i = 0; i < tail->word_count; i++)
        free(tail->words[i].data);
    free(tail->words);
    free(tail->stretches);
}

static void know_target(struct taking *taking, const struct word *word)
{
    struct in in = in_from(word->data, word->size);
    char *name = get_string(&in, 256);
    if (!in.error && !is_described(taking, name))
        note_described(taking, name);
    free(name);
}

/* How far the streams are in all of the journal; false: that cannot be. */
static bool reach(struct run *run, const struct tail *tail, struct reached_list *reached)
{
    bool good = true;
    *reached = reached_copied(&run->reached);
    for (size_t i = 0; i < tail->word_count && good; i++) {
        const struct word *word = &tail->words[i];
        if (word->kind == CHUNK_REACHED)
            good = reached_take(reached, word->data, word->size);
        else if (word->kind == CHUNK_HANGUP)
            reached_hung_up(reached, word->session);
    }
    return good && reached->count;
}

/* As if its journal had just been taken. */
static void take(struct server *server, struct run *run, const struct tail *tail)
{
    struct taking *taking = taking_new(run->trace, run->file, server->runs.keep_bytes);
    run->taking = taking;
    run->taking_free = taking_free;
    taking->sessions = (uint32_t)run->process_count;
    if (taking->sessions < tail->sessions)
        taking->sessions = tail->sessions;
    for (size_t i = 0; i < run->target_count; i++)
        note_described(taking, run->targets[i]->name);
    for (size_t i = 0; i < tail->word_count; i++)
        if (tail->words[i].kind == CHUNK_TARGET)
            know_target(taking, &tail->words[i]);
    for (size_t i = 0; i < tail->stretch_count; i++) {
        struct stretch stretch = tail->stretches[i];
        stretch.taken_ns = turn_clock_ns();
        hand_put_read(&taking->hand, stretch);
    }
    /* nobody is left who could say that he goes */
    run->ending = run->process_count && !run->connected && !tail->sessions;
    server->behind = true;
}

static bool go_on(struct server *server, struct tracefile *file, const struct tail *tail,
                  const char **why)
{
    const char *path = server->runs.output;
    struct run *run = replay_known(file, path, server->runs.keep_bytes, why);
    struct reached_list reached = {0};
    if (!run)
        return false;
    bool good = reach(run, tail, &reached);
    *why = "how far agents were is not in it";
    if (good) {
        run_called(run, reached.items[0].run);
        run->number = (unsigned)server->runs.count + 1;
        run->left = true;
        take(server, run, tail);
        runs_add(&server->runs, run);
        agents_resume(server, run, &reached);
        if (!server->quiet)
            log_line(
                "run %u \"%s\" goes on: %s: %llu events are ordered, %llu bytes of its journal "
                "will be",
                run->number, run->name, path, (unsigned long long)order_figures(run->order).events,
                (unsigned long long)tail->bytes);
        server->resumed = reached;
    } else {
        run_free(run);
        reached_free(&reached);
    }
    return good;
}

#define OTHER_MS 2000 /* a server that was killed lets go of its file meanwhile */

static bool is_written(const char *path)
{
    bool written = true;
    for (unsigned ms = 0; ms < OTHER_MS && written; ms += 20) {
        written = output_is_written(path);
        if (written)
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    }
    return written;
}

static bool refuse(const char *path, struct error *error)
{
    error_set(error, "%s: another server writes it", path);
    return false;
}

bool resuming_begin(struct server *server, struct error *error)
{
    const char *path = server->runs.output, *why = NULL;
    struct tail tail = {0};
    /* where the oldest part is forgotten: of what is there it is not known which that is */
    if (server->runs.keep_bytes || !output_holds_sent(path))
        return output_clear(path, error);
    if (is_written(path))
        return refuse(path, error);
    struct tracefile *file = tracefile_resume(path, visit, &tail, &why);
    bool good = file && go_on(server, file, &tail, &why);
    tail_free(&tail);
    if (good)
        return true;
    if (output_is_written(path)) /* since just now */
        return refuse(path, error);
    log_line("%s: it cannot be gone on with (%s): it is written anew", path, why);
    return output_clear(path, error);
}
