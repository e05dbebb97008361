/* The ring of one thread of a program: when its calls began and ended (wire/call_records.h), as the
 * server empties it.
 *
 * Nothing in it is trusted: times that run back become those of the word before, ends of calls that
 * were not open are left out and counted. */
#ifndef SERVER_DECODE_RING_READER_H
#define SERVER_DECODE_RING_READER_H

#include "server/decode/tsc_clock.h"
#include "wire/call_records.h"

struct ring_reader {
    struct ring_reader *next;
    struct call_records_head *head; /* mapped, to be read and written */
    uint32_t thread; /* code of its own line */
    uint64_t taken; /* words; our own copy */
    uint64_t last_ns; /* of the word before; 0: there was none */
    uint64_t open; /* calls */
    uint64_t wrong; /* words that could not be */
};

/* Maps a ring and puts it at the front of a list; the descriptor stays the caller's.  NULL, or what
 * is wrong with it. */
const char *ring_reader_add(struct ring_reader **list, int fd, uint32_t thread);
void ring_reader_free(struct ring_reader *ring);
unsigned ring_reader_is_full(const struct ring_reader *ring); /* in 256th */
bool ring_reader_is_empty(const struct ring_reader *ring);

/* Appends the body of an ENTRIES with what is there, RING_READER_CHUNK words at most; false: there
 * is nothing, and nothing was appended.  last: the program is gone; what its end left half done is
 * passed over.
 */
#define RING_READER_CHUNK 16384u
bool ring_reader_decode(struct ring_reader *ring, struct tsc_clock *ticks, bool last,
                        struct encoder *out);

#endif
