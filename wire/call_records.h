/* Call records: when each call of a thread began and ended (`calls=every`). The ring that a program
 * shares with the server, and the records that the server makes of it, as structs and as bytes (an
 * ENTRIES chunk of a trace file).
 *
 * A ring is sealed memory. The thread creates it when call records are first requested of it, and
 * passes it with the message ENTRIES. The thread reserves a word (`reserved`) and then writes it
 * with one store, so words are complete even if the thread is killed. The server takes nonzero
 * words, sets them to 0, and then advances `taken`. The ring has either both ends of a call or
 * neither: its begin is not written unless there is space for its end. Calls without space are
 * counted; no thread blocks.
 *
 * A word: bit 0: end (else begin); 17 bits: the context (wire/profile_region.h); 46 bits: the low
 * bits of the time in ticks. Context 0 has no calls: such a word gives, in place of the time, the
 * number of calls lost that began after the previous word. */
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
    uint32_t thread; /* code of the thread line, as in its queue */
    uint32_t clock; /* QUEUE_CLOCK_*: the unit of ticks */
    _Alignas(64) _Atomic uint64_t reserved; /* words since the start: written by the thread */
    _Atomic uint64_t lost; /* calls lost, in total */
    _Alignas(64) _Atomic uint64_t taken; /* words since the start: written by the server */
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

/* ---- as stored ---- */

enum call_record_type {
    CALL_RECORD_BEGINS,
    CALL_RECORD_ENDED, /* the innermost open call */
    CALL_RECORD_LOST /* `lost` calls are missing */
};

struct call_record {
    uint8_t is; /* an enum call_record_type */
    uint32_t context; /* of a call that begins, not 0 */
    uint64_t time_ns; /* by the program's monotonic clock; not earlier than the previous one */
    uint64_t lost;
};

/* The body of an ENTRIES chunk: its first time, then entries. *last_ns is the time of the previous
 * entry, and is set to that of this one. */
void encode_call_records_head(struct encoder *out, uint64_t first_ns);
void encode_call_record(struct encoder *out, uint64_t *last_ns, const struct call_record *entry);
uint64_t decode_call_records_head(struct decoder *in);
/* Returns false at the end, or with in->error. */
bool decode_call_record(struct decoder *in, uint64_t *last_ns, struct call_record *entry);

#endif
