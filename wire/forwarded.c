#include "wire/forwarded.h"

#include "wire/limits.h"
#include "wire/varied.h"

#include <stdlib.h>
#include <string.h>

void put_forwarded_agent(struct out *out, const char *host)
{
    put_u32(out, HELLO_MAGIC);
    put_u32(out, FORWARD_VERSION);
    put_string(out, host);
}

bool get_forwarded_agent(struct in *in, struct forwarded_agent *agent)
{
    *agent = (struct forwarded_agent){0};
    agent->magic = get_u32(in);
    agent->version = get_u32(in);
    if (!in->error && agent->magic != HELLO_MAGIC)
        in_fail(in, "is no Poet");
    if (!in->error && agent->version != FORWARD_VERSION)
        in_fail(in, "is an agent of another version of Poet");
    agent->host = get_string(in, LIMIT_TEXT_BYTES);
    return in_done(in);
}

void put_forwarded_stream(struct out *out, uint32_t stream, const uint8_t *id, const char *run)
{
    put_u32(out, stream);
    put_bytes(out, id, FORWARD_ID_BYTES);
    put_string(out, run);
}

bool get_forwarded_stream(struct in *in, struct forwarded_stream *stream)
{
    *stream = (struct forwarded_stream){.stream = get_u32(in)};
    const uint8_t *id = get_bytes(in, FORWARD_ID_BYTES);
    if (id)
        memcpy(stream->id, id, FORWARD_ID_BYTES);
    stream->run = get_string(in, LIMIT_TEXT_BYTES);
    return in_done(in);
}

void put_forwarded_batch(struct out *out, const struct forwarded_batch *batch)
{
    put_u32(out, batch->stream);
    put_u64(out, batch->first);
    put_u32(out, batch->count);
    put_u32(out, batch->raw);
}

bool get_forwarded_batch(struct in *in, struct forwarded_batch *batch)
{
    *batch = (struct forwarded_batch){0};
    batch->stream = get_u32(in);
    batch->first = get_u64(in);
    batch->count = get_u32(in);
    batch->raw = get_u32(in);
    if (!in->error && (batch->raw > FORWARD_RAW_MOST || batch->count > batch->raw / 4 ||
                       !batch->count || batch->first > INT64_MAX))
        in_fail(in, "a batch that cannot be");
    batch->packed_bytes = in_left(in);
    batch->packed = get_bytes(in, batch->packed_bytes);
    return in_done(in);
}

void put_forwarded_chunk(struct out *out, const struct forwarded_chunk *chunk)
{
    put_u8(out, chunk->kind);
    put_varied(out, chunk->session);
    put_varied(out, chunk->thread);
    put_varied(out, chunk->size);
    if (chunk->size)
        put_bytes(out, chunk->data, chunk->size);
}

bool get_forwarded_chunk(struct in *in, struct forwarded_chunk *chunk)
{
    *chunk = (struct forwarded_chunk){0};
    if (!in_left(in) || in->error)
        return false;
    chunk->kind = get_u8(in);
    uint64_t session = get_varied(in), thread = get_varied(in), size = get_varied(in);
    if (!in->error && (session > UINT32_MAX || thread > UINT32_MAX || size > in_left(in)))
        in_fail(in, "a chunk that cannot be");
    if (in->error)
        return false;
    chunk->session = (uint32_t)session;
    chunk->thread = (uint32_t)thread;
    chunk->size = (uint32_t)size;
    chunk->data = get_bytes(in, (size_t)size);
    return true;
}

bool forwarded_is_sound(const uint8_t *raw, size_t size, uint32_t count)
{
    struct in in = in_from(raw, size);
    struct forwarded_chunk chunk;
    uint64_t seen = 0;
    while (get_forwarded_chunk(&in, &chunk))
        seen++;
    return in_done(&in) && seen == count;
}
