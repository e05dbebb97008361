/* Runs as `poet ls` lists them: of files and of live servers, each once. */
#ifndef CLIENTS_CLI_RUN_LIST_H
#define CLIENTS_CLI_RUN_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum run_ending { ENDING_FINISHED, ENDING_STOPPED, ENDING_CUT_OFF, ENDING_LIVE, ENDING_UNREADABLE };

struct run_list_entry {
    char *name; /* what to call it as a SOURCE */
    char *path; /* of its file; "" there is none any more */
    char *program; /* what ran, "" not known */
    char *why; /* it cannot be read; or NULL */
    uint64_t wall_ns; /* its begin, since 1970 */
    int64_t length_ns; /* up to its last event */
    uint64_t events, lost, bytes; /* bytes: on the disk */
    uint32_t waiting; /* threads that wait at its end */
    bool deadlock; /* some of them for each other */
    enum run_ending ending;
    dev_t device; /* with the inode: which file it is; both 0 none */
    ino_t inode;
};

struct run_list {
    struct run_list_entry *items;
    size_t count, room;
};

/* "finished", "stopped", ... */
const char *run_ending_text(enum run_ending ending);
/* The runs of all servers that listen here, and the traces of the working and the state
 * directory. */
void run_list_add_all(struct run_list *listing);
/* A trace file, each trace of a directory, or the runs of a server.  False: errno says why not. */
bool run_list_add(struct run_list *listing, const char *what);
void run_list_free(struct run_list *listing); /* empties it */

#endif
