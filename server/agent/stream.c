#include "server/agent/stream.h"

#include "memory/memory.h"
#include "server/store/tracefile.h"
#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

#define LOOKS 4096u /* chunks that are passed over in one step */

/* ---- life ---- */

void put_stream_head(struct out *out, const uint8_t *id, const char *run, const char *host)
{
    put_bytes(out, id, FORWARD_ID_BYTES);
    put_string(out, run);
    put_string(out, host);
}

/* What its first chunk says. */
static bool read_head(struct stream *stream)
{
    struct chunk chunk;
    struct followed begin = following_place(stream->following);
    if (!following_next(stream->following, &chunk) || chunk.kind != CHUNK_AGENT)
        return false;
    struct in in = in_from(chunk.data, chunk.size);
    const uint8_t *id = get_bytes(&in, FORWARD_ID_BYTES);
    if (id)
        memcpy(stream->id, id, FORWARD_ID_BYTES);
    stream->run = get_string(&in, LIMIT_TEXT_BYTES);
    following_go_to(stream->following, begin);
    return !in.error;
}

static struct stream *open_file(const char *path, const char **why)
{
    struct following *following = following_new(path, why);
    if (!following)
        return NULL;
    struct stream *stream = memory_zeroed(1, sizeof *stream);
    stream->following = following;
    stream->path = memory_copied(path);
    stream->chunks = UINT64_MAX;
    stream->kept = following_place(following);
    return stream;
}

struct stream *stream_new(const char *path, bool live, const char **why)
{
    struct stream *stream = open_file(path, why);
    if (!stream)
        return NULL;
    stream->live = live;
    if (!live && !following_lock(stream->following))
        *why = "somebody is writing it";
    else if (!read_head(stream))
        *why = "it was not written by an agent";
    if (!*why)
        return stream;
    stream_free(stream);
    return NULL;
}

struct stream *stream_of_file(const char *path, const char **why)
{
    struct stream *stream = open_file(path, why);
    if (stream && !read_head(stream)) {
        free(stream->run);
        stream->run = NULL;
    }
    return stream;
}

void stream_free(struct stream *stream)
{
    following_free(stream->following);
    free(stream->run);
    free(stream->path);
    free(stream->open);
    free(stream->marks);
    free(stream);
}

/* ---- chunks ---- */

/* Who is still there, for what is said at the end. */
static void note_session(struct stream *stream, const struct chunk *chunk)
{
    if (chunk->session >= LIMIT_LINES)
        return;
    if (chunk->kind == CHUNK_SESSION) {
        stream->open = grow_zeroed(stream->open, &stream->room, (size_t)chunk->session + 1,
                                   sizeof *stream->open);
        stream->sessions =
            chunk->session >= stream->sessions ? chunk->session + 1 : stream->sessions;
    }
    if (chunk->session < stream->sessions)
        stream->open[chunk->session] = chunk->kind == CHUNK_SESSION;
}

static struct forwarded_chunk pass_on(struct stream *stream, const struct chunk *chunk)
{
    struct forwarded_chunk out = {.kind = (uint8_t)chunk->kind,
                                  .session = chunk->session,
                                  .thread = chunk->thread,
                                  .data = chunk->data,
                                  .size = chunk->size};
    stream->ended = chunk->kind == CHUNK_END;
    stream->forwarded |= chunk->kind == CHUNK_FORWARDED;
    if (chunk->kind == CHUNK_SESSION || chunk->kind == CHUNK_HANGUP)
        note_session(stream, chunk);
    if (chunk->kind == CHUNK_AGENT || chunk->kind == CHUNK_FORWARDED ||
        chunk->kind == CHUNK_CLOCKS || chunk->kind == CHUNK_REACHED || chunk->kind == CHUNK_ALONE ||
        chunk->kind > UINT8_MAX || chunk->size > FORWARD_RAW_MOST - FORWARD_HEAD_BYTES)
        return (struct forwarded_chunk){.kind = FORWARDED_NOTHING};
    return out;
}

/* What a journal that was cut off does not say: who was there is gone, and it ends. */
static bool say_end(struct stream *stream, struct forwarded_chunk *chunk)
{
    uint64_t past = stream->next - stream->chunks;
    *chunk = (struct forwarded_chunk){.kind = CHUNK_END};
    for (uint32_t i = 0; i < stream->sessions; i++) {
        if (!stream->open[i] || past-- > 0)
            continue;
        *chunk = (struct forwarded_chunk){.kind = CHUNK_HANGUP, .session = i};
        break;
    }
    stream->ended = chunk->kind == CHUNK_END;
    return true;
}

bool stream_next(struct stream *stream, struct forwarded_chunk *chunk)
{
    struct chunk read;
    if (stream->next < stream->chunks && following_next(stream->following, &read)) {
        *chunk = pass_on(stream, &read);
        stream->next++;
        return true;
    }
    if (stream->live || stream->ended || stream->forwarded)
        return false;
    if (stream->chunks == UINT64_MAX)
        stream->chunks = stream->next;
    say_end(stream, chunk);
    stream->next++;
    return true;
}

bool stream_reach(struct stream *stream)
{
    struct forwarded_chunk ignored;
    for (unsigned i = 0; i < LOOKS && stream->next < stream->skip_to; i++)
        if (!stream_next(stream, &ignored))
            return true;
    return stream->next >= stream->skip_to;
}

bool stream_is_over(const struct stream *stream)
{
    return !stream->live && (stream->ended || stream->forwarded);
}

/* ---- what was acknowledged ---- */

void stream_mark(struct stream *stream, uint64_t bytes)
{
    stream->marks =
        grow(stream->marks, &stream->mark_room, stream->mark_count + 1, sizeof *stream->marks);
    struct followed place = following_place(stream->following);
    place.chunk = stream->next; /* beyond the file's, where its end is said */
    stream->marks[stream->mark_count++] = (struct mark){place, bytes};
    stream->under_way += bytes;
}

void stream_keep(struct stream *stream, uint64_t next)
{
    size_t passed = 0;
    while (passed < stream->mark_count && stream->marks[passed].place.chunk <= next) {
        stream->kept = stream->marks[passed].place;
        stream->under_way -= stream->marks[passed++].bytes;
    }
    stream->mark_count -= passed;
    if (passed && stream->mark_count)
        memmove(stream->marks, stream->marks + passed, stream->mark_count * sizeof *stream->marks);
}

static void go_to(struct stream *stream, struct followed place)
{
    stream->next = place.chunk;
    if (place.chunk > stream->chunks)
        place.chunk = stream->chunks;
    following_go_to(stream->following, place);
    stream->ended = false;
}

void stream_go_back(struct stream *stream, uint64_t next)
{
    static const struct followed begin = {TRACEFILE_HEAD_BYTES, UINT64_MAX, 1, 0};
    stream_keep(stream, next);
    go_to(stream, stream->kept.chunk <= next ? stream->kept : begin);
    if (stream->kept.chunk > next)
        stream->kept = begin;
    stream->skip_to = next;
    stream->mark_count = 0;
    stream->under_way = 0;
}
