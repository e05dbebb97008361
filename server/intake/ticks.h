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
uint64_t ticks_counter(void); /* now; 0 where there is none */
/* How long a tick is on the average over all readings, in ns; 0: there are not two. */
double ticks_rate(const struct ticks *ticks);
void ticks_add(struct ticks *ticks, uint64_t counter, uint64_t ns);
/* The time of a counter's value.  Even beyond the readings; monotonic among values that lie before
 * the last one.  There must be two readings. */
uint64_t ticks_ns(const struct ticks *ticks, uint64_t counter);

/* The same for many values that lie near each other: what holds for all from one up to before another (which is
 * in it, too, where it is the highest there is), until there is another reading. */
struct ticks_span {
    uint64_t from, to;
    uint64_t ticks, ns; /* where it begins */
    uint64_t otherwise; /* ns of a counter that nobody read */
    double slope;
};
struct ticks_span ticks_span(const struct ticks *ticks, uint64_t counter);
static inline bool ticks_holds(const struct ticks_span *span, uint64_t counter)
{
    return counter >= span->from && (counter < span->to || span->to == UINT64_MAX);
}
static inline uint64_t ticks_within(const struct ticks_span *span, uint64_t counter)
{
    double beyond = (double)(int64_t)(counter - span->ticks) * span->slope, ns = (double)span->ns;
    if (!(beyond > -ns && beyond < 1e19 - ns))
        return span->otherwise;
    return beyond < 0 ? span->ns - (uint64_t)-beyond : span->ns + (uint64_t)beyond;
}

#endif
