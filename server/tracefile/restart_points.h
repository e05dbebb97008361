/* Restart points (marks): places from which the journal can be read, since the position of each
 * thread there is known.  One is set at the delivered position when a checkpoint begins. */
#ifndef SERVER_TRACEFILE_RESTART_POINTS_H
#define SERVER_TRACEFILE_RESTART_POINTS_H

#include "server/tracefile/tracefile_state.h"

struct restart_point {
    uint32_t number;
    struct delivered_until delivered; /* the place */
    struct encoder threads;
};

struct tracefile_region tracefile_region_for(const struct tracefile *file,
                                             uint32_t epoch); /* the lock must be held */
void restart_point_begin(struct tracefile *file); /* sets the first one, at the journal's begin */
/* Sets a restart point at the delivered position.  Returns the number of the one from which the
 * journal must be read if the oldest pending events were received in epoch `oldest`. */
uint32_t restart_point_set(struct tracefile *file, uint32_t oldest, struct chunk threads);
/* Returns the newest restart point that has this number or a smaller one. */
const struct restart_point *restart_point_for_epoch(const struct restart_point_list *marks,
                                                    uint32_t number);
/* Drops those with smaller numbers. */
void restart_points_drop(struct restart_point_list *marks, uint32_t before);
void restart_points_free(struct restart_point_list *marks);

#endif
