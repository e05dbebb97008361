/* The runs of a server: which file each one goes into, which of them are in memory. */
#ifndef SERVER_CHECKPOINT_RUN_REGISTRY_H
#define SERVER_CHECKPOINT_RUN_REGISTRY_H

#include "server/run/run.h"
#include "wire/endpoint.h"

#include <stdbool.h>

struct run_registry {
    struct run **items; /* in the order of their begin */
    size_t count, room;
    /* Counter of uses, for last_use of struct run_eviction; run_registry_touch() and
     * run_registry_reload() increment it. */
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
/* Records that the run is used now. */
void run_registry_touch(struct run_registry *runs, struct run *run);

/* ---- eviction ----
 *
 * Ended runs that no viewer uses are evicted, so that they take no memory and no descriptors. */

/* Evicts them, except for the most recently used ones. */
void run_registry_evict(struct run_registry *runs);
/* Returns a run of the server, read again from its file if it was evicted; NULL with the reason in
 * *why if that fails. */
struct run *run_registry_reload(struct run_registry *runs, size_t index, const char **why);

/* Logs which files were deleted while they are written. */
void run_registry_check_files(struct run_registry *runs);

/* Starts the report of an ended run if one was requested (POET_REPORT); does not wait for it. */
void run_registry_report(const struct run *run);
/* Starts a report of an ended run that no user sees, at the lowest priority: its tables are saved,
 * so that the first report that a user requests is there at once.  Does nothing if
 * $POET_PREPARE_REPORT is 0. */
void run_registry_prepare(const struct run *run);

/* ---- output path, the file or directory that a server writes its runs to ---- */

/* Creates the directory DIR/, or makes way for FILE: an existing file must be a trace and is
 * overwritten.  If its server was killed and it holds data that no agent will resend, it is kept
 * under another name. output NULL: does nothing.  Returns false with the reason in *error. */
bool output_path_clear(const char *output, struct error *error);
/* Returns whether `output` is a trace file that its server did not complete and that has data from
 * agents alone. */
bool output_path_holds_sent(const char *output);
bool output_path_is_written(const char *path); /* returns whether a server writes it now */
/* Renames a file; returns the new name (the caller frees it), or NULL with the reason in *error. */
char *output_path_set_aside(const char *path, const char *reason, struct error *error);

#endif
