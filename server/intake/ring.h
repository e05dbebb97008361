/* The ring of one thread of a program: when its calls began and ended (wire/entries.h), as the server empties it.
 *
 * Nothing in it is trusted: times that run back become those of the word before, ends of calls that were not open are
 * left out and counted. */
#ifndef SERVER_INTAKE_RING_H
#define SERVER_INTAKE_RING_H

#include "server/intake/ticks.h"
#include "wire/entries.h"

struct ring {
    struct ring *next;
    struct entries_head *head; /* mapped, to be read and written */
    uint32_t thread; /* code of its own line */
    uint64_t taken; /* words; our own copy */
    uint64_t last_ns; /* of the word before; 0: there was none */
    uint64_t open; /* calls */
    uint64_t wrong; /* words that could not be */
};

/* Maps a ring and puts it at the front of a list; the descriptor stays the caller's.  NULL, or what is wrong with it. */
const char *ring_add(struct ring **list, int fd, uint32_t thread);
void ring_free(struct ring *ring);
unsigned ring_full(const struct ring *ring); /* in 256th */
bool ring_is_empty(const struct ring *ring);

/* Appends the body of an ENTRIES with what is there, RING_PART words at most; false: there is nothing, and nothing was
 * appended.  last: the program is gone; what its end left half done is passed over.  
 */
#define RING_PART 16384u
bool ring_take(struct ring *ring, struct ticks *ticks, bool last, struct out *out);

#endif
