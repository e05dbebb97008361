/* The time-stamp counter in nanoseconds of the monotonic clock.
 *
 * Programs on this machine may stamp what they record with the counter.  The server reads both
 * clocks whenever it empties a queue, and takes the counter to run evenly between two readings. */
#ifndef SERVER_INTAKE_TICKS_H
#define SERVER_INTAKE_TICKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TICKS_POINTS 1024u

struct ticks {
    struct {
        uint64_t ticks, ns;
    } points[TICKS_POINTS]; /* a ring: the last so many readings */
    size_t count;           /* of all readings */
};

bool ticks_known(void); /* whether this machine has the counter */
/* Reads both clocks, unless it did within the last millisecond. */
void ticks_read(struct ticks *ticks);
void ticks_add(struct ticks *ticks, uint64_t counter, uint64_t ns);
/* The time of a counter's value.  Even beyond the readings; monotonic among values that lie before
 * the last one.  There must be two readings. */
uint64_t ticks_ns(const struct ticks *ticks, uint64_t counter);

#endif
