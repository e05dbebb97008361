/* What an agent and its server tell each other, as structs and as bytes: chunks of a journal, in
 * batches that are numbered by their first chunk.
 *
 * A *stream* is one journal of an agent, whose chunks are numbered from 0.  A batch may come again,
 * or late: its numbers say which of it is new.  docs/wire.md has the messages. */
#ifndef WIRE_FORWARDING_MESSAGES_H
#define WIRE_FORWARDING_MESSAGES_H

#include "wire/message.h"

#define FORWARD_VERSION 1u
#define FORWARD_RAW_MOST (16u << 20) /* bytes of a batch, unpacked */
#define FORWARD_LIMIT_BYTES (FORWARD_RAW_MOST + (1u << 20)) /* of one message of an agent */
#define FORWARD_HEAD_BYTES 16u /* of a chunk within a batch, at most */
#define FORWARD_STREAMS_MOST 4096u /* of one connection */
#define FORWARD_ID_BYTES 16u

struct forwarded_agent { /* AGENT: the first word */
    uint32_t magic, version;
    char *host; /* the caller's */
};

struct forwarded_stream { /* STREAM: one that the agent has; by this number from now on */
    uint32_t stream;
    uint8_t id[FORWARD_ID_BYTES]; /* random: the same whenever it is told */
    char *run; /* the caller's */
};

struct forwarded_batch { /* FORWARD */
    uint32_t stream;
    uint64_t first; /* chunk */
    uint32_t count, raw; /* how many chunks; their bytes, unpacked */
    const uint8_t *packed; /* in the message */
    size_t packed_bytes;
    bool ends; /* its stream does: known to the sender alone, not in the message */
};

struct forwarded_chunk { /* within a batch */
    uint8_t kind; /* FORWARDED_NOTHING, a message of programs, or an enum chunk_kind */
    uint32_t session, thread; /* as the agent's journal has them */
    const uint8_t *data;
    uint32_t size;
};
#define FORWARDED_NOTHING 0u /* in place of one that is the agent's own */

void encode_forwarded_agent(struct encoder *out, const char *host);
bool decode_forwarded_agent(struct decoder *in, struct forwarded_agent *agent);
void encode_forwarded_stream(struct encoder *out, uint32_t stream, const uint8_t *id,
                             const char *run);
bool decode_forwarded_stream(struct decoder *in, struct forwarded_stream *stream);
/* All but the packed bytes, which follow. */
void encode_forwarded_batch(struct encoder *out, const struct forwarded_batch *batch);
bool decode_forwarded_batch(struct decoder *in, struct forwarded_batch *batch);
void encode_forwarded_chunk(struct encoder *out, const struct forwarded_chunk *chunk);
/* The next one; false at the end, or with in->error. */
bool decode_forwarded_chunk(struct decoder *in, struct forwarded_chunk *chunk);
/* Whether these bytes are so many chunks and nothing else. */
bool forwarded_chunk_is_valid(const uint8_t *raw, size_t size, uint32_t count);

#endif
