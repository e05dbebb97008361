/* Entries: when each call of a thread began and ended (`calls=every`): the ring that a program
 * shares with the server, and what the server makes of it, as structs and as bytes (an ENTRIES
 * chunk of a trace file).
 *
 * A ring is sealed memory, made by the thread when this is first wanted of it and handed over with
 * the message ENTRIES.  The thread reserves a word, `reserved`, and then writes it: one store, so
 * that what lies there is whole, also where the thread was killed.  The server takes words that are
 * not 0, sets them to 0, and then moves `taken` on.  A call is in the ring with both its ends or
 * not at all: its begin is not written unless its end will find room.  What finds none is counted,
 * and nobody waits.
 *
 * A word: bit 0: an end, else a begin; 17 bits: its context (wire/profile_region.h); 46 bits: the
 * time, the low ones of the ticks.  Context 0 has no calls: that is a word that says how many calls
 * are not there, which would have begun since the word before; their number is where the time would
 * be. */
#ifndef WIRE_CALL_RECORDS_H
#define WIRE_CALL_RECORDS_H

#include "wire/message.h"
#include "wire/profile_region.h"

#define CALL_RECORDS_MAGIC 0x52455450u /* "PTER" */
#define CALL_RECORDS_VERSION 1u
#define CALL_RECORDS_HEAD_BYTES 4096u
#define CALL_RECORDS_WORDS (1u << 20) /* of a ring: a power of two */
#define CALL_RECORDS_MAP_BYTES                                                                     \
    (CALL_RECORDS_HEAD_BYTES + (size_t)CALL_RECORDS_WORDS * sizeof(uint64_t))

#define CALL_RECORD_ENDS 1u
#define CALL_RECORD_CONTEXT_SHIFT 1
#define CALL_RECORD_TIME_SHIFT 18
#define CALL_RECORD_TIME_BITS (64 - CALL_RECORD_TIME_SHIFT)

struct call_records_head {
    uint32_t magic, version;
    uint32_t thread; /* code of its own line, as in its queue */
    uint32_t clock; /* QUEUE_CLOCK_*: what ticks are */
    _Alignas(64) _Atomic uint64_t reserved; /* words, since the begin: the thread's */
    _Atomic uint64_t lost; /* calls that are not there, in all */
    _Alignas(64) _Atomic uint64_t taken; /* words: the server's */
};
static_assert(sizeof(struct call_records_head) <= CALL_RECORDS_HEAD_BYTES,
              "the head fits its page");
static_assert(REGION_CONTEXTS <= 1u << (CALL_RECORD_TIME_SHIFT - CALL_RECORD_CONTEXT_SHIFT),
              "a context fits its place");

static inline _Atomic uint64_t *call_records_words(struct call_records_head *head)
{
    return (_Atomic uint64_t *)(void *)((char *)head + CALL_RECORDS_HEAD_BYTES);
}

static inline uint64_t call_record_word(uint32_t context, bool ends, uint64_t time)
{
    return time << CALL_RECORD_TIME_SHIFT | (uint64_t)context << CALL_RECORD_CONTEXT_SHIFT |
           (ends ? CALL_RECORD_ENDS : 0);
}

/* ---- as they are kept ---- */

enum call_record_type {
    CALL_RECORD_BEGINS,
    CALL_RECORD_ENDED, /* the innermost call that is open */
    CALL_RECORD_LOST /* so many calls are not there */
};

struct call_record {
    uint8_t is; /* an enum call_record_type */
    uint32_t context; /* of a call that begins, not 0 */
    uint64_t time_ns; /* by the program's monotonic clock; none is earlier than the one before */
    uint64_t lost;
};

/* The body of an ENTRIES chunk: the time that it begins with, then entries; *last_ns is the time of
 * the one before, and becomes this one's. */
void encode_call_records_head(struct encoder *out, uint64_t first_ns);
void encode_call_record(struct encoder *out, uint64_t *last_ns, const struct call_record *entry);
uint64_t decode_call_records_head(struct decoder *in);
/* False at the end, or with in->error. */
bool decode_call_record(struct decoder *in, uint64_t *last_ns, struct call_record *entry);

#endif
