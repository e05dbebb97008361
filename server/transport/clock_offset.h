/* Offset of a remote host's clock from the local one, between two certain bounds.
 *
 * A request is sent at t0 and its response arrives at t3, by the local clock; the request
 * arrived at t1 and the response was sent at t2, by the remote one.  No message arrives before
 * it was sent: so the remote clock is ahead by at least t2 - t3 and at most t1 - t0 (Cristian
 * 1989; NTP takes the middle).  The bounds widen with time, since clocks drift. */
#ifndef SERVER_TRANSPORT_CLOCK_OFFSET_H
#define SERVER_TRANSPORT_CLOCK_OFFSET_H

#include <stdbool.h>
#include <stdint.h>

#define CLOCK_OFFSET_DRIFT_PPM 200 /* of two clocks against each other, at most: 100 of either */

struct clock_offset {
    bool known;
    int64_t low_ns, high_ns; /* ahead of ours, at `at_ns` of ours */
    uint64_t at_ns;
};

/* One question and its answer; false: that cannot be, or says less than is known. */
bool clock_offset_add(struct clock_offset *offset, uint64_t t0, uint64_t t1, uint64_t t2,
                      uint64_t t3);
/* The bounds at a later time of our clock. */
void clock_offset_at(const struct clock_offset *offset, uint64_t now_ns, int64_t *low_ns,
                     int64_t *high_ns);

#endif
