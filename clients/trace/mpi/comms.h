/* The communicators that are followed: who is in them, and an id that all members know. */
#ifndef CLIENTS_TRACE_MPI_COMMS_H
#define CLIENTS_TRACE_MPI_COMMS_H

#include "clients/trace/poet.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct request; /* see request.h */

struct comm {
    uint64_t id; /* the same in all members, and no other communicator's */
    int rank, size;
    bool inter;
    bool whole;      /* all members are traced */
    int *peers;      /* rank here (of the remote group, if it is an intercommunicator) -> world */
    int peer_count;
    int self;        /* rank in the world */
    uint64_t collectives, children; /* so far */
    poet_line_t line;
    struct request *first, *last; /* posted receives, the oldest first */
};

/* NULL: it is not followed. */
struct comm *comm_of(MPI_Comm handle);
void comms_begin(void);
int peer_of(const struct comm *comm, int rank); /* in the world; -1 none */
poet_line_t peer_line(const struct comm *comm,
                      int rank); /* of MPI_ANY_SOURCE: the communicator's */

#pragma GCC visibility pop
#endif
