#include "server/taking/origin.h"

#include "memory/memory.h"
#include "server/intake/session.h"
#include "server/taking/journal.h"

#include <stdlib.h>
#include <string.h>

struct origin *origin_new(const uint8_t *id)
{
    struct origin *origin = memory_zeroed(1, sizeof *origin);
    memcpy(origin->id, id, FORWARD_ID_BYTES);
    return origin;
}

struct origin *origin_marked(const uint8_t *id, const char *run)
{
    struct origin *origin = origin_new(id);
    origin->run = memory_copied(run);
    return origin;
}

struct origin *origin_resumed(const struct reached *reached)
{
    struct origin *origin = origin_marked(reached->id, reached->run);
    origin->next = reached->next;
    origin->ended = reached->ended;
    origin->message = reached->message;
    origin->sessions = grow(NULL, &origin->room, reached->count + 1, sizeof *origin->sessions);
    for (; origin->count < reached->count; origin->count++) {
        origin->sessions[origin->count] = reached->sessions[origin->count];
        origin->open += reached->sessions[origin->count] != ORIGIN_NONE;
    }
    return origin;
}

void origin_free(struct origin *origin)
{
    free(origin->run);
    free(origin->sessions);
    free(origin);
}

/* A batch on its way into the journal: what it changes is only so once it is there. */
struct batch {
    struct origin *origin;
    struct taking *taking;
    struct chunk *chunks;
    size_t count, room;
    uint32_t begun; /* sessions */
    uint32_t *gone; /* sessions there that hung up */
    size_t gone_count;
    bool ended;
    const char *why;
};

static void add(struct batch *b, const struct forwarded_chunk *from, uint32_t session)
{
    b->chunks = grow(b->chunks, &b->room, b->count + 1, sizeof *b->chunks);
    b->chunks[b->count++] = (struct chunk){.kind = from->kind,
                                           .session = session,
                                           .thread = from->thread,
                                           .data = from->data,
                                           .size = from->size};
}

static bool wrong(struct batch *b, const char *why)
{
    b->why = why;
    return false;
}

static bool begin_session(struct batch *b, const struct forwarded_chunk *chunk)
{
    struct hello hello;
    struct in in = in_from(chunk->data, chunk->size);
    bool good = hello_read(&in, &hello) && hello.role == ROLE_PROGRAM;
    hello_free(&hello);
    if (!good || chunk->session != b->origin->count + b->begun || chunk->session >= LIMIT_LINES)
        return wrong(b, "a session that cannot be");
    add(b, chunk, b->taking->sessions + b->begun++);
    return true;
}

static bool is_gone(const struct batch *b, uint32_t session)
{
    for (size_t i = 0; i < b->gone_count; i++)
        if (b->gone[i] == session)
            return true;
    return false;
}

/* The number here of a session there; ORIGIN_NONE: nothing of it is taken. */
static uint32_t session_of(const struct batch *b, uint32_t there)
{
    if (is_gone(b, there))
        return ORIGIN_NONE;
    if (there < b->origin->count)
        return b->origin->sessions[there];
    uint64_t begun = there - b->origin->count;
    return begun < b->begun ? b->taking->sessions + (uint32_t)begun : ORIGIN_NONE;
}

/* Our own description of an environment, if we have one: who sends another harms nobody else's lines. */
static bool describe(struct batch *b, const struct forwarded_chunk *chunk)
{
    struct in in = in_from(chunk->data, chunk->size);
    char *name = get_string(&in, 256), *text = get_string(&in, LIMIT_TARGET_BYTES);
    bool good = in_done(&in) && *name && !strchr(name, '/');
    bool fits = !good || journal_describe_told(b->taking, name, text);
    free(name);
    free(text);
    return good ? fits : wrong(b, "a description that cannot be");
}

static bool is_taken(unsigned kind)
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

static bool add_one(struct batch *b, const struct forwarded_chunk *chunk)
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
        return describe(b, chunk);
    if (chunk->kind != CHUNK_HANGUP && !is_taken(chunk->kind))
        return wrong(b, "a chunk of a kind that is not forwarded");
    if (nobodys && (chunk->kind == MESSAGE_METER || chunk->kind == MESSAGE_CELLS)) {
        add(b, chunk, UINT32_MAX);
        return true;
    }
    if (chunk->session >= b->origin->count + b->begun)
        return wrong(b, "a chunk of a program that never began");
    uint32_t session = session_of(b, chunk->session);
    if (session == ORIGIN_NONE)
        return true;
    add(b, chunk, session);
    if (chunk->kind == CHUNK_HANGUP)
        PUSH(b->gone, b->gone_count, chunk->session);
    return true;
}

/* What the batch comes to, for the chunk that was kept free before it. */
static void mark(struct batch *b, struct out *body, uint64_t next)
{
    uint32_t *sessions = memory_bytes(((size_t)b->begun + 1) * sizeof *sessions);
    struct reached_mark reached = {.next = next,
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
    put_reached(body, &reached);
    free(sessions);
    b->chunks[0] =
        (struct chunk){.kind = CHUNK_REACHED, .data = body->data, .size = (uint32_t)body->size};
}

/* It is in the journal. */
static void commit(struct batch *b, uint64_t next)
{
    struct origin *origin = b->origin;
    origin->sessions =
        grow(origin->sessions, &origin->room, origin->count + b->begun, sizeof *origin->sessions);
    for (uint32_t i = 0; i < b->begun; i++)
        origin->sessions[origin->count++] = b->taking->sessions++;
    origin->open += b->begun;
    for (size_t i = 0; i < b->gone_count; i++) {
        origin->sessions[b->gone[i]] = ORIGIN_NONE;
        origin->open--;
    }
    origin->next = next;
    origin->ended = b->ended;
}

enum origin_took origin_take(struct origin *origin, struct taking *taking, uint64_t first,
                             uint32_t count, const uint8_t *raw, size_t size, const char **why)
{
    struct batch batch = {.origin = origin, .taking = taking, .ended = origin->ended};
    struct in in = in_from(raw, size);
    struct forwarded_chunk chunk;
    uint64_t at = first;
    *why = "chunks that cannot be read";
    if (!forwarded_is_sound(raw, size, count))
        return ORIGIN_WRONG;
    if (first > origin->next)
        return ORIGIN_EARLY;
    if (first + count <= origin->next)
        return ORIGIN_TOOK;
    bool good = true, marked = origin->run != NULL;
    if (marked)
        add(&batch, &(struct forwarded_chunk){0}, 0);
    for (; good && get_forwarded_chunk(&in, &chunk); at++)
        good = at < origin->next || add_one(&batch, &chunk);
    struct out body = {0};
    if (good && marked && batch.count > 1)
        mark(&batch, &body, first + count);
    bool fits =
        good && (batch.count == marked || journal_put(taking, batch.chunks, batch.count, false));
    if (fits)
        commit(&batch, first + count);
    *why = batch.why;
    free(batch.chunks);
    free(batch.gone);
    out_free(&body);
    return fits ? ORIGIN_TOOK : batch.why ? ORIGIN_WRONG : ORIGIN_FULL;
}

bool origin_refuse(struct origin *origin, struct taking *taking, uint32_t session)
{
    for (size_t i = 0; i < origin->count; i++) {
        if (origin->sessions[i] != session)
            continue;
        journal_put(taking, &(struct chunk){.kind = CHUNK_HANGUP, .session = session}, 1, true);
        origin->sessions[i] = ORIGIN_NONE;
        origin->open--;
        return true;
    }
    return false;
}
