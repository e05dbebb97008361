#include "wire/forwarding_messages.h"

#include "wire/limits.h"
#include "wire/message.h"

#include <string.h>

void encode_forwarded_agent(struct encoder *out, const char *host)
{
    encode_u32(out, HELLO_MAGIC);
    encode_u32(out, FORWARD_VERSION);
    encode_string(out, host);
}

bool decode_forwarded_agent(struct decoder *in, struct forwarded_agent *agent)
{
    *agent = (struct forwarded_agent){0};
    agent->magic = decode_u32(in);
    agent->version = decode_u32(in);
    if (!in->error && agent->magic != HELLO_MAGIC && agent->magic != HELLO_FORMER_MAGIC)
        decoder_fail(in, "is not Poet");
    if (!in->error && agent->magic == HELLO_FORMER_MAGIC)
        decoder_fail(in, "agent of an older version of Poet");
    if (!in->error && agent->version != FORWARD_VERSION)
        decoder_fail(in, "agent of a different version of Poet");
    agent->host = decode_string(in, LIMIT_TEXT_BYTES);
    return decoder_finish(in);
}

void encode_forwarded_stream(struct encoder *out, uint32_t stream, const uint8_t *id,
                             const char *run)
{
    encode_u32(out, stream);
    encode_bytes(out, id, FORWARD_ID_BYTES);
    encode_string(out, run);
}

bool decode_forwarded_stream(struct decoder *in, struct forwarded_stream *stream)
{
    *stream = (struct forwarded_stream){.stream = decode_u32(in)};
    const uint8_t *id = decode_bytes(in, FORWARD_ID_BYTES);
    if (id)
        memcpy(stream->id, id, FORWARD_ID_BYTES);
    stream->run = decode_string(in, LIMIT_TEXT_BYTES);
    return decoder_finish(in);
}

void encode_forwarded_batch(struct encoder *out, const struct forwarded_batch *batch)
{
    encode_u32(out, batch->stream);
    encode_u64(out, batch->first);
    encode_u32(out, batch->count);
    encode_u32(out, batch->raw);
}

bool decode_forwarded_batch(struct decoder *in, struct forwarded_batch *batch)
{
    *batch = (struct forwarded_batch){0};
    batch->stream = decode_u32(in);
    batch->first = decode_u64(in);
    batch->count = decode_u32(in);
    batch->raw = decode_u32(in);
    if (!in->error && (batch->raw > FORWARD_RAW_MOST || batch->count > batch->raw / 4 ||
                       !batch->count || batch->first > INT64_MAX))
        decoder_fail(in, "invalid batch");
    batch->packed_bytes = decoder_remaining(in);
    batch->packed = decode_bytes(in, batch->packed_bytes);
    return decoder_finish(in);
}

void encode_forwarded_chunk(struct encoder *out, const struct forwarded_chunk *chunk)
{
    encode_u8(out, chunk->kind);
    encode_varint(out, chunk->session);
    encode_varint(out, chunk->thread);
    encode_varint(out, chunk->size);
    if (chunk->size)
        encode_bytes(out, chunk->data, chunk->size);
}

bool decode_forwarded_chunk(struct decoder *in, struct forwarded_chunk *chunk)
{
    *chunk = (struct forwarded_chunk){0};
    if (!decoder_remaining(in) || in->error)
        return false;
    chunk->kind = decode_u8(in);
    uint64_t session = decode_varint(in), thread = decode_varint(in), size = decode_varint(in);
    if (!in->error && (session > UINT32_MAX || thread > UINT32_MAX || size > decoder_remaining(in)))
        decoder_fail(in, "invalid chunk");
    if (in->error)
        return false;
    chunk->session = (uint32_t)session;
    chunk->thread = (uint32_t)thread;
    chunk->size = (uint32_t)size;
    chunk->data = decode_bytes(in, (size_t)size);
    return true;
}

bool forwarded_chunk_is_valid(const uint8_t *raw, size_t size, uint32_t count)
{
    struct decoder in = decoder_init(raw, size);
    struct forwarded_chunk chunk;
    uint64_t seen = 0;
    while (decode_forwarded_chunk(&in, &chunk))
        seen++;
    return decoder_finish(&in) && seen == count;
}
