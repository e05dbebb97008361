/* Evicts ended runs that no viewer uses, so that they take no memory and no descriptors. */
#ifndef SERVER_CHECKPOINT_IDLE_EVICTION_H
#define SERVER_CHECKPOINT_IDLE_EVICTION_H

#include "server/checkpoint/run_registry.h"

/* Evicts ended runs, except for the most recently used ones. */
void idle_evict_finished(struct run_registry *runs);
/* Returns a run of the server, read again from its file if it was evicted; NULL with a reason if
 * that fails. */
struct run *idle_reload_run(struct run_registry *runs, size_t index, const char **why);

/* Logs which files were deleted while they are written. */
void idle_check_deleted_files(struct run_registry *runs);

#endif
