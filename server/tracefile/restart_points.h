/* Restart points (marks): places from which the journal can be read, since the position of each
 * thread there is known.  One is set at the delivered position when a state begins. */
#ifndef SERVER_TRACEFILE_RESTART_POINTS_H
#define SERVER_TRACEFILE_RESTART_POINTS_H

#include "server/tracefile/tracefile_state.h"

struct restart_point {
    uint32_t number;
    struct delivered_until delivered; /* the place */
    struct encoder threads;
};

struct tracefile_region tracefile_region_for(const struct tracefile *file,
                                             uint32_t epoch); /* under the lock */
void restart_point_begin(struct tracefile *file); /* the journal's begin */
/* A new one where the order has got to; the number of the one from which the journal must be read
 * if `oldest` is the number that what waits has come under. */
uint32_t restart_point_set(struct tracefile *file, uint32_t oldest, struct chunk threads);
const struct restart_point *restart_point_for_epoch(const struct tracefile *file,
                                                    uint32_t number); /* not dropped */
void restart_points_drop(struct tracefile *file, uint32_t before); /* those with smaller numbers */
void restart_points_free(struct tracefile *file);

#endif
