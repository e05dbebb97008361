/* The room of parts that no state needs any more. */
#ifndef SERVER_TRACEFILE_FREE_SPACE_H
#define SERVER_TRACEFILE_FREE_SPACE_H

#include "server/tracefile/tracefile_state.h"

int free_space_by_place(const void *a, const void *b); /* in qsort: places, as u64 */
/* A state was written to a slot, over an older one whose parts may go. */
void free_space_reclaim(struct tracefile *file, unsigned slot, const struct checkpoint *state);

#endif
