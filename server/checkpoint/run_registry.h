/* The runs of a server: which file each one goes into, which of them are in memory. */
#ifndef SERVER_CHECKPOINT_RUN_REGISTRY_H
#define SERVER_CHECKPOINT_RUN_REGISTRY_H

#include "server/run/run.h"

struct run_registry {
    struct run **items; /* in the order of their begin */
    size_t count, room;
    /* Counter of uses, for last_use of struct run_eviction; run_registry_touch() and
     * idle_reload_run() increment it. */
    uint64_t askings;
    const char *output; /* FILE, DIR/ or NULL for the user's state directory */
    uint64_t keep_bytes; /* maximum for each run; 0: everything is kept */
    bool quiet; /* new runs are not logged */
};

/* Returns the run of a key, begun if there is none, or NULL if its file cannot be created.  `why`
 * must have space for 512 bytes. */
struct run *run_registry_find(struct run_registry *runs, const char *key, char *why, size_t size);
/* Returns a directory of the user's state, created if necessary, with a / at its end (the caller
 * frees it). */
char *run_registry_directory(const char *name);
void run_registry_add(struct run_registry *runs, struct run *run);
/* records that the run is used now */
void run_registry_touch(struct run_registry *runs, struct run *run);

#endif
