/* Entries: when each call of a thread began and ended (`calls=every`): the ring that a program shares with the server,
 * and what the server makes of it, as structs and as bytes (an ENTRIES chunk of a trace file).
 *
 * A ring is sealed memory, made by the thread when this is first wanted of it and handed over with the message ENTRIES.
 * The thread reserves a word, `reserved`, and then writes it: one store, so that what lies there is whole, also where the
 * thread was killed.  The server takes words that are not 0, sets them to 0, and then moves `taken` on.  A call is in the
 * ring with both its ends or not at all: its begin is not written unless its end will find room.  What finds none is
 * counted, and nobody waits.
 *
 * A word: bit 0: an end, else a begin; 17 bits: its context (wire/region.h); 46 bits: the time, the low ones of the ticks.
 * Context 0 has no calls: that is a word that says how many calls are not there, which would have begun since the word
 * before; their number is where the time would be. */
#ifndef WIRE_ENTRIES_H
#define WIRE_ENTRIES_H

#include "wire/message.h"
#include "wire/region.h"

#define ENTRIES_MAGIC 0x52455450u /* "PTER" */
#define ENTRIES_VERSION 1u
#define ENTRIES_HEAD_BYTES 4096u
#define ENTRIES_WORDS (1u << 20) /* of a ring: a power of two */
#define ENTRIES_MAP_BYTES (ENTRIES_HEAD_BYTES + (size_t)ENTRIES_WORDS * sizeof(uint64_t))

#define ENTRY_ENDS 1u
#define ENTRY_CONTEXT_SHIFT 1
#define ENTRY_TIME_SHIFT 18
#define ENTRY_TIME_BITS (64 - ENTRY_TIME_SHIFT)

struct entries_head {
    uint32_t magic, version;
    uint32_t thread; /* code of its own line, as in its queue */
    uint32_t clock; /* QUEUE_CLOCK_*: what ticks are */
    _Alignas(64) _Atomic uint64_t reserved; /* words, since the begin: the thread's */
    _Atomic uint64_t lost; /* calls that are not there, in all */
    _Alignas(64) _Atomic uint64_t taken; /* words: the server's */
};
static_assert(sizeof(struct entries_head) <= ENTRIES_HEAD_BYTES, "the head fits its page");
static_assert(REGION_CONTEXTS <= 1u << (ENTRY_TIME_SHIFT - ENTRY_CONTEXT_SHIFT),
              "a context fits its place");

static inline _Atomic uint64_t *entries_words(struct entries_head *head)
{
    return (_Atomic uint64_t *)(void *)((char *)head + ENTRIES_HEAD_BYTES);
}

static inline uint64_t entry_word(uint32_t context, bool ends, uint64_t time)
{
    return time << ENTRY_TIME_SHIFT | (uint64_t)context << ENTRY_CONTEXT_SHIFT |
           (ends ? ENTRY_ENDS : 0);
}

/* ---- as they are kept ---- */

enum entry_is {
    ENTRY_BEGINS,
    ENTRY_ENDED, /* the innermost call that is open */
    ENTRY_LOST /* so many calls are not there */
};

struct entry {
    uint8_t is; /* an enum entry_is */
    uint32_t context; /* of a call that begins, not 0 */
    uint64_t time_ns; /* by the program's monotonic clock; none is earlier than the one before */
    uint64_t lost;
};

/* The body of an ENTRIES chunk: the time that it begins with, then entries; *last_ns is the time of the one before,
 * and becomes this one's. */
void put_entries_head(struct out *out, uint64_t first_ns);
void put_entry(struct out *out, uint64_t *last_ns, const struct entry *entry);
uint64_t get_entries_head(struct in *in);
/* False at the end, or with in->error. */
bool get_entry(struct in *in, uint64_t *last_ns, struct entry *entry);

#endif
