/* Frees the space of parts that no checkpoint needs any more. */
#ifndef SERVER_TRACEFILE_FREE_SPACE_H
#define SERVER_TRACEFILE_FREE_SPACE_H

#include "server/tracefile/tracefile_state.h"

int free_space_by_place(const void *a, const void *b); /* for qsort of places (uint64_t) */
/* Frees, after a delay, parts of the checkpoint whose slot was just overwritten by `state`. */
void free_space_reclaim(struct tracefile *file, unsigned slot, const struct checkpoint *state);

#endif
