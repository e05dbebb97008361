/* Runs as `poet ls` lists them: of files and of live servers, each once. */
#ifndef CLIENTS_POET_LISTED_H
#define CLIENTS_POET_LISTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum ending { ENDING_FINISHED, ENDING_STOPPED, ENDING_CUT_OFF, ENDING_LIVE, ENDING_UNREADABLE };

struct listed {
    char *name; /* what to call it as a SOURCE */
    char *path; /* of its file; "" there is none any more */
    char *program; /* what ran, "" not known */
    char *why; /* it cannot be read; or NULL */
    uint64_t wall_ns; /* its begin, since 1970 */
    int64_t length_ns; /* up to its last event */
    uint64_t events, lost, bytes; /* bytes: on the disk */
    uint32_t waiting; /* threads that wait at its end */
    bool deadlock; /* some of them for each other */
    enum ending ending;
    dev_t device; /* with the inode: which file it is; both 0 none */
    ino_t inode;
};

struct listing {
    struct listed *items;
    size_t count, room;
};

/* "finished", "stopped", ... */
const char *ending_text(enum ending ending);
/* The runs of all servers that listen here, and the traces of the working and the state directory. */
void listing_add_all(struct listing *listing);
/* A trace file, each trace of a directory, or the runs of a server.  False: errno says why not. */
bool listing_add(struct listing *listing, const char *what);
void listing_free(struct listing *listing); /* empties it */

#endif
