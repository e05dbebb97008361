/* What a thread told of its calls before: each body of SUMS as it came, so that sums can be had as
 * of then.
 *
 * They are kept as bytes, up to PROFILE_HISTORY_BYTES of all threads of a run; of what comes later
 * only the newest sums are known, which is no less true, but says nothing of when. */
#ifndef SERVER_TIMING_PROFILE_HISTORY_H
#define SERVER_TIMING_PROFILE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_HISTORY_BYTES ((size_t)64 << 20)

/* Zero-initialised: none. */
struct profile_history {
    struct earlier_body {
        /* by the program's clock; one time may have several, one after the other */
        uint64_t time_ns;
        uint8_t *data;
        uint32_t size;
    } *items;
    uint32_t count;
    uint32_t saved; /* so many of them were told to a state */
    bool full; /* some found no room */
};

/* *bytes: of all threads.  The body is copied. */
void profile_history_append(struct profile_history *earlier, size_t *bytes, uint64_t time_ns,
                            const uint8_t *body, size_t size);
/* How many times there are. */
uint32_t profile_history_times(const struct profile_history *earlier);
void profile_history_free(struct profile_history *earlier); /* empties it */

#endif
