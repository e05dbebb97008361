/* The communicators that are followed: who is in them, and an id that all members know. */
#ifndef CLIENTS_LIBPOET_MPI_COMMUNICATORS_H
#define CLIENTS_LIBPOET_MPI_COMMUNICATORS_H

#include "clients/libpoet/poet.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct mpi_request; /* see request.h */

struct communicator {
    uint64_t id; /* the same in all members, and no other communicator's */
    int rank, size;
    bool inter;
    bool whole;      /* all members are traced */
    int *peers;      /* rank here (of the remote group, if it is an intercommunicator) -> world */
    int peer_count;
    int self;        /* rank in the world */
    uint64_t collectives, children; /* so far */
    poet_line_t line;
    struct mpi_request *first, *last; /* posted receives, the oldest first */
};

/* NULL: it is not followed. */
struct communicator *communicator_find(MPI_Comm handle);
void communicators_begin(void);
int communicator_world_rank(const struct communicator *comm, int rank); /* in the world; -1 none */
poet_line_t communicator_line(const struct communicator *comm,
                              int rank); /* of MPI_ANY_SOURCE: the communicator's */

#pragma GCC visibility pop
#endif
