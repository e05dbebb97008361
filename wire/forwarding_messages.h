/* Messages between an agent and its server, as structs and as bytes: chunks of a journal in
 * batches, which are numbered by their first chunk.
 *
 * A *stream* is one journal of an agent, with chunks numbered from 0. A batch may arrive
 * repeatedly or late; its numbers say which part of it is new. docs/wire.md describes the
 * messages. */
#ifndef WIRE_FORWARDING_MESSAGES_H
#define WIRE_FORWARDING_MESSAGES_H

#include "wire/message.h"

#define FORWARD_VERSION 1u
#define FORWARD_RAW_MOST (16u << 20) /* uncompressed bytes of a batch */
#define FORWARD_LIMIT_BYTES (FORWARD_RAW_MOST + (1u << 20)) /* of one message of an agent */
#define FORWARD_HEAD_BYTES 16u /* of a chunk in a batch, at most */
#define FORWARD_STREAMS_MOST 4096u /* of one connection */
#define FORWARD_ID_BYTES 16u

struct forwarded_agent { /* AGENT: the first message */
    uint32_t magic, version;
    char *host; /* the caller frees it */
};

struct forwarded_stream { /* STREAM: announces a stream of the agent and its number */
    uint32_t stream;
    uint8_t id[FORWARD_ID_BYTES]; /* random; the same in every announcement */
    char *run; /* the caller frees it */
};

struct forwarded_batch { /* FORWARD */
    uint32_t stream;
    uint64_t first; /* chunk */
    uint32_t count, raw; /* number of chunks; their uncompressed bytes */
    const uint8_t *packed; /* points into the message */
    size_t packed_bytes;
    bool ends; /* the stream ends; known to the sender only, not in the message */
};

struct forwarded_chunk { /* within a batch */
    uint8_t kind; /* FORWARDED_NOTHING, a message type of programs, or an enum chunk_kind */
    uint32_t session, thread; /* as in the agent's journal */
    const uint8_t *data;
    uint32_t size;
};
#define FORWARDED_NOTHING 0u /* replaces a chunk that concerns only the agent */

void encode_forwarded_agent(struct encoder *out, const char *host);
bool decode_forwarded_agent(struct decoder *in, struct forwarded_agent *agent);
void encode_forwarded_stream(struct encoder *out, uint32_t stream, const uint8_t *id,
                             const char *run);
bool decode_forwarded_stream(struct decoder *in, struct forwarded_stream *stream);
/* Encodes all but the packed bytes, which follow. */
void encode_forwarded_batch(struct encoder *out, const struct forwarded_batch *batch);
bool decode_forwarded_batch(struct decoder *in, struct forwarded_batch *batch);
void encode_forwarded_chunk(struct encoder *out, const struct forwarded_chunk *chunk);
/* Decodes the next one; returns false at the end, or with in->error. */
bool decode_forwarded_chunk(struct decoder *in, struct forwarded_chunk *chunk);
/* Returns whether the bytes are exactly `count` valid chunks. */
bool forwarded_chunk_is_valid(const uint8_t *raw, size_t size, uint32_t count);

#endif
