/* The time-stamp counter in nanoseconds of the monotonic clock.
 *
 * Programs on this machine may stamp what they record with the counter.  The server reads both
 * clocks whenever it empties a queue, and takes the counter to run evenly between two readings. */
#ifndef SERVER_DECODE_TSC_CLOCK_H
#define SERVER_DECODE_TSC_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TSC_CLOCK_POINTS 1024u

struct tsc_clock {
    struct {
        uint64_t ticks, ns;
    } points[TSC_CLOCK_POINTS]; /* a ring: the last so many readings */
    size_t count;           /* of all readings */
};

bool tsc_clock_known(void); /* whether this machine has the counter */
/* Reads both clocks, unless it did within the last millisecond. */
void tsc_clock_read(struct tsc_clock *ticks);
uint64_t tsc_clock_counter(void); /* now; 0 where there is none */
/* Returns the average length of a tick over all readings, in ns; 0: there are fewer than two
 * readings. */
double tsc_clock_rate(const struct tsc_clock *ticks);
void tsc_clock_add(struct tsc_clock *ticks, uint64_t counter, uint64_t ns);
/* The time of a counter's value.  Even beyond the readings; monotonic among values that lie before
 * the last one.  There must be two readings. */
uint64_t tsc_clock_ns(const struct tsc_clock *ticks, uint64_t counter);

/* Conversion of many nearby values: a range holds for the values from .. to - 1 (and for `to`
 * itself if it is UINT64_MAX), until the next reading. */
struct tsc_clock_range {
    uint64_t from, to;
    uint64_t ticks, ns; /* where it begins */
    uint64_t otherwise; /* ns of a counter value out of range */
    double slope;
};
struct tsc_clock_range tsc_clock_span(const struct tsc_clock *ticks, uint64_t counter);
static inline bool tsc_clock_holds(const struct tsc_clock_range *span, uint64_t counter)
{
    return counter >= span->from && (counter < span->to || span->to == UINT64_MAX);
}
static inline uint64_t tsc_clock_within(const struct tsc_clock_range *span, uint64_t counter)
{
    double beyond = (double)(int64_t)(counter - span->ticks) * span->slope, ns = (double)span->ns;
    if (!(beyond > -ns && beyond < 1e19 - ns))
        return span->otherwise;
    return beyond < 0 ? span->ns - (uint64_t)-beyond : span->ns + (uint64_t)beyond;
}

#endif
