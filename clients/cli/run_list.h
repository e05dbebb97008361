/* The list of runs for `poet ls`: of files and of live servers, each once. */
#ifndef CLIENTS_CLI_RUN_LIST_H
#define CLIENTS_CLI_RUN_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum run_ending { ENDING_FINISHED, ENDING_STOPPED, ENDING_CUT_OFF, ENDING_LIVE, ENDING_UNREADABLE };

struct run_list_entry {
    char *name; /* its name as a SOURCE */
    char *path; /* of its file; "": deleted */
    char *program; /* "": unknown */
    char *why; /* why it cannot be read; or NULL */
    uint64_t wall_ns; /* its start, since 1970 */
    int64_t length_ns; /* until its last event */
    uint64_t events, lost, bytes; /* bytes: on disk */
    uint32_t waiting; /* threads blocked at its end */
    bool deadlock; /* some of them in a deadlock */
    enum run_ending ending;
    dev_t device; /* with the inode: identifies the file; both 0: none */
    ino_t inode;
};

struct run_list {
    struct run_list_entry *items;
    size_t count, room;
};

/* Returns "finished", "stopped", ... */
const char *run_ending_text(enum run_ending ending);
/* Adds the runs of all servers listening on this host, and the traces of the working and the state
 * directory. */
void run_list_add_all(struct run_list *listing);
/* Adds a trace file, each trace of a directory, or the runs of a server. Returns false with errno
 * set. */
bool run_list_add(struct run_list *listing, const char *what);
void run_list_free(struct run_list *listing); /* leaves it empty */

#endif
