/* Earlier profile snapshots of a thread: each body of SUMS as received, so that the sums as of an
 * earlier time can be restored.
 *
 * They are kept as bytes, up to PROFILE_HISTORY_BYTES for all threads of a run.  For later
 * snapshots only the newest sums are known; these are correct, too, but without intermediate times.
 */
#ifndef SERVER_TIMING_PROFILE_HISTORY_H
#define SERVER_TIMING_PROFILE_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROFILE_HISTORY_BYTES ((size_t)64 << 20)

/* A zero-initialized struct is empty. */
struct profile_history {
    struct earlier_body {
        /* by the program's clock; several bodies in succession may have the same time */
        uint64_t time_ns;
        uint8_t *data;
        uint32_t size;
    } *items;
    uint32_t count;
    uint32_t saved; /* number of them that were already saved in a checkpoint */
    bool full; /* some did not fit */
};

/* Appends a copy of the body. *bytes: bytes used by all threads. */
void profile_history_append(struct profile_history *earlier, size_t *bytes, uint64_t time_ns,
                            const uint8_t *body, size_t size);
/* Returns the number of different times. */
uint32_t profile_history_times(const struct profile_history *earlier);
void profile_history_free(struct profile_history *earlier); /* frees the memory; it is empty then */

#endif
