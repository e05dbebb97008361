#include "server/forwarding/forwarded_stream.h"

#include "base/alloc.h"
#include "server/tracefile/tracefile.h"
#include "wire/limits.h"

#include <stdlib.h>
#include <string.h>

#define LOOKS 4096u /* chunks that are passed over in one step */

/* ---- life ---- */

void encode_stream_head(struct encoder *out, const uint8_t *id, const char *run, const char *host)
{
    encode_bytes(out, id, FORWARD_ID_BYTES);
    encode_string(out, run);
    encode_string(out, host);
}

/* What its first chunk says. */
static bool read_head(struct outgoing_stream *stream)
{
    struct chunk chunk;
    struct journal_position begin = journal_follower_position(stream->following);
    if (!journal_follower_next(stream->following, &chunk) || chunk.kind != CHUNK_AGENT)
        return false;
    struct decoder in = decoder_init(chunk.data, chunk.size);
    const uint8_t *id = decode_bytes(&in, FORWARD_ID_BYTES);
    if (id)
        memcpy(stream->id, id, FORWARD_ID_BYTES);
    stream->run = decode_string(&in, LIMIT_TEXT_BYTES);
    journal_follower_seek(stream->following, begin);
    return !in.error;
}

static struct outgoing_stream *open_file(const char *path, const char **why)
{
    struct journal_follower *following = journal_follower_new(path, why);
    if (!following)
        return NULL;
    struct outgoing_stream *stream = xcalloc(1, sizeof *stream);
    stream->following = following;
    stream->path = xstrdup(path);
    stream->chunks = UINT64_MAX;
    stream->kept = journal_follower_position(following);
    return stream;
}

struct outgoing_stream *outgoing_stream_new(const char *path, bool live, const char **why)
{
    struct outgoing_stream *stream = open_file(path, why);
    if (!stream)
        return NULL;
    stream->live = live;
    if (!live && !journal_follower_lock(stream->following))
        *why = "another process is writing it";
    else if (!read_head(stream))
        *why = "it was not written by an agent";
    if (!*why)
        return stream;
    outgoing_stream_free(stream);
    return NULL;
}

struct outgoing_stream *outgoing_stream_of_file(const char *path, const char **why)
{
    struct outgoing_stream *stream = open_file(path, why);
    if (stream && !read_head(stream)) {
        free(stream->run);
        stream->run = NULL;
    }
    return stream;
}

void outgoing_stream_free(struct outgoing_stream *stream)
{
    journal_follower_free(stream->following);
    free(stream->run);
    free(stream->path);
    free(stream->open);
    free(stream->marks);
    free(stream);
}

/* ---- chunks ---- */

/* Notes which sessions are still open: their ends are added where the journal was cut off. */
static void note_session(struct outgoing_stream *stream, const struct chunk *chunk)
{
    if (chunk->session >= LIMIT_LINES)
        return;
    if (chunk->kind == CHUNK_SESSION) {
        stream->open = array_reserve_zeroed(stream->open, &stream->room, (size_t)chunk->session + 1,
                                            sizeof *stream->open);
        stream->sessions =
            chunk->session >= stream->sessions ? chunk->session + 1 : stream->sessions;
    }
    if (chunk->session < stream->sessions)
        stream->open[chunk->session] = chunk->kind == CHUNK_SESSION;
}

static struct forwarded_chunk outgoing_is_forwarded(struct outgoing_stream *stream,
                                                    const struct chunk *chunk)
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

/* Adds what a journal that was cut off lacks: the ends of its sessions, and its own. */
static bool outgoing_append_end(struct outgoing_stream *stream, struct forwarded_chunk *chunk)
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

bool outgoing_stream_next(struct outgoing_stream *stream, struct forwarded_chunk *chunk)
{
    struct chunk read;
    if (stream->next < stream->chunks && journal_follower_next(stream->following, &read)) {
        *chunk = outgoing_is_forwarded(stream, &read);
        stream->next++;
        return true;
    }
    if (stream->live || stream->ended || stream->forwarded)
        return false;
    if (stream->chunks == UINT64_MAX)
        stream->chunks = stream->next;
    outgoing_append_end(stream, chunk);
    stream->next++;
    return true;
}

bool outgoing_stream_advance(struct outgoing_stream *stream)
{
    struct forwarded_chunk ignored;
    for (unsigned i = 0; i < LOOKS && stream->next < stream->skip_to; i++)
        if (!outgoing_stream_next(stream, &ignored))
            return true;
    return stream->next >= stream->skip_to;
}

/* ---- what was acknowledged ---- */

void outgoing_stream_mark(struct outgoing_stream *stream, uint64_t bytes)
{
    stream->marks = array_reserve(stream->marks, &stream->mark_room, stream->mark_count + 1,
                                  sizeof *stream->marks);
    struct journal_position place = journal_follower_position(stream->following);
    place.chunk = stream->next; /* beyond the file's, where its end is said */
    stream->marks[stream->mark_count++] = (struct outgoing_mark){place, bytes};
    stream->under_way += bytes;
}

void outgoing_stream_keep(struct outgoing_stream *stream, uint64_t next)
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

static void outgoing_seek(struct outgoing_stream *stream, struct journal_position place)
{
    stream->next = place.chunk;
    if (place.chunk > stream->chunks)
        place.chunk = stream->chunks;
    journal_follower_seek(stream->following, place);
    stream->ended = false;
}

void outgoing_stream_go_back(struct outgoing_stream *stream, uint64_t next)
{
    static const struct journal_position begin = {TRACEFILE_HEAD_BYTES, UINT64_MAX, 1, 0};
    outgoing_stream_keep(stream, next);
    outgoing_seek(stream, stream->kept.chunk <= next ? stream->kept : begin);
    if (stream->kept.chunk > next)
        stream->kept = begin;
    stream->skip_to = next;
    stream->mark_count = 0;
    stream->under_way = 0;
}
