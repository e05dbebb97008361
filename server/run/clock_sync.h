/* The fit of clocks: made when it is first needed and again when the run has grown much. */
#ifndef SERVER_RUN_CLOCK_SYNC_H
#define SERVER_RUN_CLOCK_SYNC_H

#include "server/run/run.h"
#include "server/run/clock_fit.h"

#include <stdint.h>

/* Returns a number that grows with each fit of the clocks of several hosts; 0 if there is only one
 * host. */
uint64_t clock_sync_generation(const struct run *run);
/* Converts a time of a process to the clock of the run's first host. */
int64_t clock_sync_correct(const struct run *run, uint32_t process, int64_t time_ns);

struct clock_bound { /* of a host's clock relative to that of the first host */
    const char *host; /* owned by the run */
    int64_t at_ns; /* time by the first clock at which the bounds hold, since the run's begin */
    struct clock_tied bound;
    int64_t ahead_ns; /* correction of the host's times then */
};
/* Returns the number of bounds, one for each host, the first host first; 0: there is only one
 * host.  The caller frees *bounds. */
size_t clock_sync_bounds(const struct run *run, struct clock_bound **bounds);

#endif
