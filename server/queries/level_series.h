/* Time series of the level of concurrency (server/timing/thread_levels.h): for each state the
 * minimum, mean and maximum number of threads in each pixel.  Not thread-safe. */
#ifndef SERVER_QUERIES_LEVEL_SERIES_H
#define SERVER_QUERIES_LEVEL_SERIES_H

#include "server/run/run.h"
#include "server/timing/thread_levels.h"
#include "wire/time_series.h"

#define LEVEL_SERIES_SCALE 1000 /* values are in thousandths of a thread */

/* Zero-initialize it. */
struct level_series {
    struct thread_levels levels;
    uint64_t generation; /* of the intervals */
    bool begun;
    bool off_cpu; /* off-CPU time is known for a thread */
};

/* Processes about `budget` events and intervals; once all are processed, adds the requested states
 * to the set, which has its range and number of pixels, and returns true.  It adds nothing if the
 * run is too long. */
bool level_series_step(struct level_series *series, const struct run *run,
                       const struct series_request *request, struct time_series_set *set,
                       uint64_t *budget);
void level_series_free(struct level_series *series);

#endif
