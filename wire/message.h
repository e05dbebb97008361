/* Messages between programs, server and viewers: framing and encoding.
 *
 * A message is a frame of 8 bytes and a body: u32 length of the body, u16 type, u16 MESSAGE_MARK.
 * All integers are little-endian. A string is a u32 length and that many bytes. docs/wire.md
 * describes every body byte by byte.
 *
 * This module does no I/O. A decoder keeps its first error and the offset of it; after that, all
 * values read are zero, so a whole body can be read before the error is checked. */
#ifndef WIRE_MESSAGE_H
#define WIRE_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WIRE_VERSION 1u /* all peers must have the same */
/* Flags in a WELCOME to a program. */
#define WELCOME_AGENT 1u /* the server is an agent, which writes no report */
#define WELCOME_REMOTE 2u /* programs of other hosts may be in the run */
#define WELCOME_SCARCE 4u /* little space is left where the trace is written */
#define MESSAGE_MARK 0x4f50u /* "PO" */
#define MESSAGE_FRAME_BYTES 8u
#define HELLO_MAGIC 0x4d454f50u /* "POEM" */
#define HELLO_FORMER_MAGIC 0x54454f50u /* of peers before version 1, which are refused */

/* One table: number, name. Below 32 (and INPUT) from programs, then from viewers, then from the
 * server. */
/* clang-format off */
#define MESSAGES(M)                                                                       \
    M(1, HELLO)   /* what connects: a program or a viewer */                              \
    M(2, MODULE)  /* an ELF file mapped into the program */                               \
    M(3, TYPE)    /* code and name of an event type, and its `after` set */               \
    M(4, SHAPE)   /* code and steps of a compound record */                               \
    M(5, LINE)    /* opens a line */                                                      \
    M(6, NAME)    /* renames a line */                                                    \
    M(7, ANNOTATION)    /* text for an event, which may be long past */                   \
    M(8, LOST)    /* event numbers that were allocated but never sent */                  \
    M(9, THREAD)  /* a thread; with a descriptor, its queue */                            \
    M(10, SLOTS)  /* a batch of slots of one thread */                                    \
    M(11, WAKE)   /* a queue is filling up: read it now */                                \
    M(12, LOSSES) /* time that a program waited; events dropped or untraced */            \
    M(13, DESCRIBE) /* the name of one more environment */                                \
    M(14, OBJECT)   /* the id of a line's object, known later than the line */            \
    M(15, PARTICIPANTS) /* number of threads, or processes, that meet at a line */         \
    M(16, KIND)   /* a line is of another kind than it was opened as */                   \
    M(17, UNTRACED) /* why events may be ordered by untraced synchronization */           \
    M(18, SENT)   /* whether all recorded events were sent */                             \
    M(19, REPORT) /* write a report when the run has ended */                             \
    M(20, CLOSE)  /* a line's object was destroyed; number of its last event */           \
    M(21, REGION) /* with a descriptor: profile region of a thread */                     \
    M(22, USAGE)  /* operating-system statistics; sampled by the server */                \
    M(23, HEAP)   /* with a descriptor: heap region (wire/heap_region.h) */               \
    M(24, METRIC)  /* name of a user-defined metric */                                    \
    M(25, SAMPLED_CELLS)  /* with a descriptor: shared cells to be sampled */             \
    M(26, CARRIER)   /* a worker thread; with a descriptor: its placements */             \
    M(27, ENTRIES) /* with a descriptor: call records of a thread */                      \
    M(28, REMOTE_STREAM)    /* an end of a byte stream between hosts */                   \
    M(29, STREAM_GAP)   /* bytes of such a stream that no event wrote */                  \
    M(30, ENDS)   /* the program ends by itself: it exits */                              \
    M(31, AWAITS) /* a thread waits for the end of another one, without an event */       \
    M(32, REQUEST)    /* a request, see wire/request.h */                                 \
    M(33, CANCEL) /* cancels a request */                                                 \
    M(34, SUBSCRIBE)   /* requests notification of growth of the run */                   \
    M(35, HELD)   /* a lock was held at the fork by a thread of the parent */              \
    M(36, INPUT)  /* (of a program) recorded input: wire/recorded_input.h */              \
    M(37, GOTO)   /* from a debugger to a viewer: go to an event; and its reply */        \
    M(38, AGENT_CLOCK) /* internal: clock of an agent's host, requested through NATS */   \
    M(39, STREAM_POSITION) /* internal: position of a NATS stream after the next batch */ \
    M(40, AGENT)  /* an agent connects (wire/forwarding_messages.h) */                    \
    M(41, STREAM) /* announces a journal */                                               \
    M(42, FORWARD) /* a batch of its chunks */                                            \
    M(43, ACK) /* to an agent: next chunk expected; earlier ones are stored */            \
    M(44, COMPLETE) /* to an agent: the run has ended, with all chunks up to this one */  \
    M(45, CLOCK)  /* to an agent: requests the time of its clock */                       \
    M(46, CLOCK_REPLY)  /* the time, and the contents of the request */                   \
    M(47, CONFLICT)  /* (of a program) two threads accessed the same memory */            \
    M(48, UNEXAMINED) /* (of a program) accesses that are not examined */                 \
    M(64, WELCOME) /* identity of the server, after HELLO */                              \
    M(65, ERROR)  /* the last message before a server disconnects */                      \
    M(66, RESPONSE) /* a part of the response to a request */                             \
    M(68, RUN_UPDATED)  /* the run has grown, for subscribers */                          \
    M(69, TARGET) M(70, PROCESS)  M(71, TYPE_NAME)  M(72, LINE_INFO) /* tables */         \
    M(83, RUN_SELECTED) /* the run that later messages are about */                       \
    M(84, NEWER_RUN)  /* there is a newer run; the selected one stays */                  \
    M(91, LINE_COUNT) /* number of lines, if not all of them are described */             \
    M(96, DAMAGE) /* the unreadable part of the trace */
/* clang-format on */

enum message_type {
#define M(number, name) MESSAGE_##name = number,
    MESSAGES(M)
#undef M
};

/* Modes of SUBSCRIBE. */
enum feed { FEED_OFF, FEED_ON, FEED_STAY };

/* Returns the name of a message type, or "unknown". */
const char *message_name(unsigned type);

enum role { ROLE_PROGRAM = 1, ROLE_VIEWER = 2, ROLE_AGENT = 3 };

/* A growing buffer of bytes to send. A zeroed one is empty. All encode_ functions append; if memory
 * runs out, `failed` is set and stays set, and the data is kept as it was. encoder_free frees and
 * empties it. */
struct encoder {
    uint8_t *data;
    size_t size, room;
    size_t begun; /* offset of the frame of the open message */
    bool failed;
};

void encoder_begin_message(struct encoder *out, enum message_type type);
void encoder_end_message(struct encoder *out); /* sets the frame's length */
void encoder_free(struct encoder *out);
/* removes the first bytes, which were sent */
void encoder_consume(struct encoder *out, size_t bytes);
void encode_u8(struct encoder *out, uint8_t v);
void encode_u16(struct encoder *out, uint16_t v);
void encode_u32(struct encoder *out, uint32_t v);
void encode_u64(struct encoder *out, uint64_t v);
void encode_bytes(struct encoder *out, const void *data, size_t size);
void encode_string(struct encoder *out, const char *s); /* NULL is encoded as "" */

/* A range of bytes to read, owned by the caller. */
struct decoder {
    const uint8_t *data;
    size_t size, at;
    const char *error; /* the first error, a constant; NULL if there is none */
    size_t error_at;
};

struct decoder decoder_init(const void *data, size_t size);
void decoder_fail(struct decoder *in, const char *why);
uint8_t decode_u8(struct decoder *in);
uint16_t decode_u16(struct decoder *in);
uint32_t decode_u32(struct decoder *in);
uint64_t decode_u64(struct decoder *in);
const uint8_t *decode_bytes(struct decoder *in, size_t size); /* NULL after an error */
/* Decodes a string into new, NUL-terminated memory; fails above `limit` bytes or if it contains a
 * NUL. Returns "" after an error, and NULL only if memory ran out. */
char *decode_string(struct decoder *in, size_t limit);
/* Decodes a count of items that take at least `least` bytes each; 0 after an error. */
uint32_t decode_count(struct decoder *in, size_t least);
/* Returns a zeroed array of `count` items; fails if memory runs out. */
void *decode_array(struct decoder *in, size_t count, size_t bytes);
size_t decoder_remaining(const struct decoder *in);
/* Returns true if everything was read without error; remaining bytes are an error. */
bool decoder_finish(struct decoder *in);

/* Parses a frame. Returns 1 if a whole message is at data (MESSAGE_FRAME_BYTES + *length bytes,
 * including the frame), 0 if more bytes are needed, -1 if it is not a message or exceeds limit;
 * *why is the reason then. */
int frame_read(const uint8_t *data, size_t size, size_t limit, unsigned *type, size_t *length,
               const char **why);

/* ---- variable-length integers ---- */

/* They have seven bits per byte, the least significant first; the high bit means that more bytes
 * follow. */

static inline void encode_varint(struct encoder *out, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        encode_u8(out, (uint8_t)(number | 0x80));
    encode_u8(out, (uint8_t)number);
}

/* Returns 0 with in->error if it exceeds 64 bits or is incomplete. */
static inline uint64_t decode_varint(struct decoder *in)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && !in->error; shift += 7) {
        uint8_t byte = decode_u8(in);
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return number;
    }
    decoder_fail(in, "number too long");
    return 0;
}

#endif
