/* Encounters: when two threads met last, from where on both could have come earlier.
 *
 * Two threads meet where one lets the other go on that waited for it (not as a lock changes hands: who held it did not
 * come to meet anybody), where a group gathers with both in it, and where one makes the other.  If they never met, they
 * come from where their makers' lines part; without any they have been since the earlier of them began.
 * Not thread-safe. */
#ifndef SERVER_CAUSES_ENCOUNTERS_H
#define SERVER_CAUSES_ENCOUNTERS_H

#include "server/measure/intervals.h"

/* Zero-initialised: none. */
struct encounters {
    struct map
        last; /* two lines, the lower first -> 1 + the last segment in which one waited for the other */
    uint32_t *before; /* by segment: 1 + the one before of the same two; 0: none */
    size_t room;
};

enum met { MET_WAITING, MET_GATHERING, MET_MADE, MET_PARTED, MET_NEVER };

struct encounter {
    int64_t at_ns;
    enum met how;
    uint64_t
        position; /* of the event by which they met, or parted; NO_POSITION: there is no single one */
};

/* The segments of a wait are meetings from now on, told in the order of the waits. */
void encounters_add(struct encounters *encounters, const struct intervals *all,
                    const struct wait *wait);
/* The last one not after a time. */
struct encounter encounters_last(const struct encounters *encounters, const struct intervals *all,
                                 uint32_t a, uint32_t b, int64_t until_ns);
void encounters_free(struct encounters *encounters); /* empties it */

#endif
