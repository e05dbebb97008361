#include "server/journal/forwarded_source.h"

#include "base/alloc.h"
#include "server/decode/program_session.h"
#include "server/eventloop/event_loop.h"
#include "server/journal/journal_write.h"

#include <stdlib.h>
#include <string.h>

struct forwarded_source *forwarded_source_new(const uint8_t *id)
{
    struct forwarded_source *origin = xcalloc(1, sizeof *origin);
    memcpy(origin->id, id, FORWARD_ID_BYTES);
    return origin;
}

struct forwarded_source *forwarded_source_marked(const uint8_t *id, const char *run)
{
    struct forwarded_source *origin = forwarded_source_new(id);
    origin->run = xstrdup(run);
    return origin;
}

struct forwarded_source *forwarded_source_resumed(const struct agent_position *reached)
{
    struct forwarded_source *origin = forwarded_source_marked(reached->id, reached->run);
    origin->next = reached->next;
    origin->ended = reached->ended;
    origin->message = reached->message;
    origin->sessions =
        array_reserve(NULL, &origin->room, reached->count + 1, sizeof *origin->sessions);
    for (; origin->count < reached->count; origin->count++) {
        origin->sessions[origin->count] = reached->sessions[origin->count];
        origin->open += reached->sessions[origin->count] != FORWARDED_SOURCE_NONE;
    }
    return origin;
}

void forwarded_source_free(struct forwarded_source *origin)
{
    free(origin->run);
    free(origin->sessions);
    free(origin);
}

/* A batch on its way into the journal: what it changes is only so once it is there. */
struct forwarded_batch_state {
    struct forwarded_source *origin;
    struct capture *taking;
    struct chunk *chunks;
    size_t count, room;
    uint32_t begun; /* sessions */
    uint32_t *gone; /* sessions there that hung up */
    size_t gone_count;
    uint32_t held; /* 1 + the session here with the hang-up that is held back; 0: none */
    bool ended;
    const char *why;
};

static void forwarded_source_add_chunk(struct forwarded_batch_state *b,
                                       const struct forwarded_chunk *from, uint32_t session)
{
    b->chunks = array_reserve(b->chunks, &b->room, b->count + 1, sizeof *b->chunks);
    b->chunks[b->count++] = (struct chunk){.kind = from->kind,
                                           .session = session,
                                           .thread = from->thread,
                                           .data = from->data,
                                           .size = from->size};
}

static bool forwarded_source_set_error(struct forwarded_batch_state *b, const char *why)
{
    b->why = why;
    return false;
}

static bool begin_session(struct forwarded_batch_state *b, const struct forwarded_chunk *chunk)
{
    struct hello_message hello;
    struct decoder in = decoder_init(chunk->data, chunk->size);
    bool good = hello_message_decode(&in, &hello) && hello.role == ROLE_PROGRAM;
    hello_message_free(&hello);
    if (!good || chunk->session != b->origin->count + b->begun || chunk->session >= LIMIT_LINES)
        return forwarded_source_set_error(b, "invalid session");
    forwarded_source_add_chunk(b, chunk, b->taking->sessions + b->begun++);
    return true;
}

static bool is_gone(const struct forwarded_batch_state *b, uint32_t session)
{
    for (size_t i = 0; i < b->gone_count; i++)
        if (b->gone[i] == session)
            return true;
    return false;
}

/* The number here of a session there; FORWARDED_SOURCE_NONE: nothing of it is taken. */
static uint32_t session_of(const struct forwarded_batch_state *b, uint32_t there)
{
    if (is_gone(b, there))
        return FORWARDED_SOURCE_NONE;
    if (there < b->origin->count)
        return b->origin->sessions[there];
    uint64_t begun = there - b->origin->count;
    return begun < b->begun ? b->taking->sessions + (uint32_t)begun : FORWARDED_SOURCE_NONE;
}

/* Uses the server's own description of an environment, if there is one: an agent with a
 * different one must not affect other hosts' lines. */
static bool forwarded_source_read_description(struct forwarded_batch_state *b,
                                              const struct forwarded_chunk *chunk)
{
    struct decoder in = decoder_init(chunk->data, chunk->size);
    char *name = decode_string(&in, 256), *text = decode_string(&in, LIMIT_TARGET_BYTES);
    bool good = decoder_finish(&in) && *name && !strchr(name, '/');
    bool fits = !good || journal_write_given_description(b->taking, name, text);
    free(name);
    free(text);
    return good ? fits : forwarded_source_set_error(b, "invalid description");
}

static bool forwarded_source_is_received(unsigned kind)
{
    switch (kind) {
    case CHUNK_SLOTS:
    case CHUNK_SUMS:
    case CHUNK_ENTRIES:
    case CHUNK_SWITCHES:
    case CHUNK_METERS:
    case CHUNK_SPANS:
        return true;
    default:
        return kind > MESSAGE_HELLO && kind <= MESSAGE_ENDS && kind != MESSAGE_THREAD &&
               kind != MESSAGE_WAKE && kind != MESSAGE_REPORT && kind != MESSAGE_REGION;
    }
}

static void forwarded_source_add_hangup(struct forwarded_batch_state *b,
                                        const struct forwarded_chunk *chunk, uint32_t session)
{
    bool last = b->origin->holds && b->origin->open + b->begun == b->gone_count + 1;
    if (!last)
        forwarded_source_add_chunk(b, chunk, session);
    else if (b->held) /* another program began behind it */
        forwarded_source_add_chunk(b, chunk, b->held - 1);
    if (last)
        b->held = session + 1;
    ARRAY_PUSH(b->gone, b->gone_count, chunk->session);
}

static bool add_one(struct forwarded_batch_state *b, const struct forwarded_chunk *chunk)
{
    bool nobodys = chunk->session == UINT32_MAX;
    if (chunk->kind == FORWARDED_NOTHING)
        return true;
    b->ended = chunk->kind == CHUNK_END;
    if (b->ended)
        return true;
    if (chunk->kind == CHUNK_SESSION)
        return begin_session(b, chunk);
    if (chunk->kind == CHUNK_TARGET)
        return forwarded_source_read_description(b, chunk);
    if (chunk->kind != CHUNK_HANGUP && !forwarded_source_is_received(chunk->kind))
        return forwarded_source_set_error(b, "a chunk of a kind that is not forwarded");
    if (nobodys && (chunk->kind == MESSAGE_METRIC || chunk->kind == MESSAGE_SAMPLED_CELLS)) {
        forwarded_source_add_chunk(b, chunk, UINT32_MAX);
        return true;
    }
    if (chunk->session >= b->origin->count + b->begun)
        return forwarded_source_set_error(b, "a chunk of a program that never began");
    uint32_t session = session_of(b, chunk->session);
    if (session == FORWARDED_SOURCE_NONE)
        return true;
    if (chunk->kind == CHUNK_HANGUP)
        forwarded_source_add_hangup(b, chunk, session);
    else
        forwarded_source_add_chunk(b, chunk, session);
    return true;
}

/* What the batch comes to, for the chunk that was kept free before it. */
static void forwarded_source_write_position(struct forwarded_batch_state *b, struct encoder *body,
                                            uint64_t next)
{
    uint32_t *sessions = xmalloc(((size_t)b->begun + 1) * sizeof *sessions);
    struct agent_position_mark reached = {.next = next,
                                          .message = b->origin->message,
                                          .ended = b->ended,
                                          .run = b->origin->run,
                                          .from = (uint32_t)b->origin->count,
                                          .sessions = sessions,
                                          .count = b->begun};
    memcpy(reached.id, b->origin->id, FORWARD_ID_BYTES);
    for (uint32_t i = 0; i < b->begun; i++)
        sessions[i] = b->taking->sessions + i;
    for (size_t i = 1; i < b->count; i++)
        reached.bytes += CHUNK_HEAD_BYTES + (uint64_t)b->chunks[i].size;
    agent_position_encode(body, &reached);
    free(sessions);
    b->chunks[0] =
        (struct chunk){.kind = CHUNK_REACHED, .data = body->data, .size = (uint32_t)body->size};
}

void forwarded_source_end(struct forwarded_source *origin, struct capture *taking)
{
    for (size_t i = 0; i < origin->count && origin->open; i++) {
        if (origin->sessions[i] == FORWARDED_SOURCE_NONE)
            continue;
        journal_hold_hangup(taking, origin->sessions[i], loop_clock_ns());
        origin->sessions[i] = FORWARDED_SOURCE_NONE;
        origin->open--;
    }
}

/* It is in the journal. */
static void forwarded_source_commit_batch(struct forwarded_batch_state *b, uint64_t next)
{
    struct forwarded_source *origin = b->origin;
    origin->sessions = array_reserve(origin->sessions, &origin->room, origin->count + b->begun,
                                     sizeof *origin->sessions);
    for (uint32_t i = 0; i < b->begun; i++)
        origin->sessions[origin->count++] = b->taking->sessions++;
    origin->open += b->begun;
    for (size_t i = 0; i < b->gone_count; i++) {
        origin->sessions[b->gone[i]] = FORWARDED_SOURCE_NONE;
        origin->open--;
    }
    origin->next = next;
    origin->ended = b->ended;
    if (b->held)
        journal_hold_hangup(b->taking, b->held - 1, loop_clock_ns());
    if (b->ended && origin->run)
        forwarded_source_end(origin, b->taking);
}

enum receive_result forwarded_source_receive(struct forwarded_source *origin,
                                             struct capture *taking, uint64_t first, uint32_t count,
                                             const uint8_t *raw, size_t size, const char **why)
{
    struct forwarded_batch_state batch = {
        .origin = origin, .taking = taking, .ended = origin->ended};
    struct decoder in = decoder_init(raw, size);
    struct forwarded_chunk chunk;
    uint64_t at = first;
    *why = "chunks that cannot be read";
    if (!forwarded_chunk_is_valid(raw, size, count))
        return RECEIVE_INVALID;
    if (first > origin->next)
        return RECEIVE_EARLY;
    if (first + count <= origin->next)
        return RECEIVE_DONE;
    bool good = true, marked = origin->run != NULL;
    if (marked)
        forwarded_source_add_chunk(&batch, &(struct forwarded_chunk){0}, 0);
    for (; good && decode_forwarded_chunk(&in, &chunk); at++)
        good = at < origin->next || add_one(&batch, &chunk);
    struct encoder body = {0};
    if (good && marked && batch.count > 1)
        forwarded_source_write_position(&batch, &body, first + count);
    bool fits =
        good && (batch.count == marked || journal_append(taking, batch.chunks, batch.count, false));
    if (fits)
        forwarded_source_commit_batch(&batch, first + count);
    *why = batch.why;
    free(batch.chunks);
    free(batch.gone);
    encoder_free(&body);
    return fits ? RECEIVE_DONE : batch.why ? RECEIVE_INVALID : RECEIVE_FULL;
}

bool forwarded_source_reject(struct forwarded_source *origin, struct capture *taking,
                             uint32_t session)
{
    for (size_t i = 0; i < origin->count; i++) {
        if (origin->sessions[i] != session)
            continue;
        journal_append_hangup(taking, session);
        origin->sessions[i] = FORWARDED_SOURCE_NONE;
        origin->open--;
        return true;
    }
    return false;
}
