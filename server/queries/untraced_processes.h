/* Search for processes that programs of the run created, and that are not in it: they may use what
 * they inherited, such as a pipe.  Not thread-safe. */
#ifndef SERVER_QUERIES_UNTRACED_PROCESSES_H
#define SERVER_QUERIES_UNTRACED_PROCESSES_H

#include "server/queries/wait_graph.h"

#define CREATION_TYPES 4u

/* A zero-initialized search; `some` is its result. */
struct untraced_processes {
    bool some; /* there may be such processes */
    bool begun;
    uint32_t types[CREATION_TYPES]; /* of the messages with which processes began */
    unsigned type_count;
    uint64_t received; /* number of processes that began with one */
    uint64_t sent, counted; /* number of such messages up to position `counted` */
};

/* Continues the search; returns true once it is complete.  The graph must be complete. */
bool untraced_processes_step(struct untraced_processes *u, const struct wait_graph *g,
                             uint64_t *budget);

#endif
