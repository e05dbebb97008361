/* The traced communicators: their members, and an id that all members know. */
#ifndef CLIENTS_LIBPOET_MPI_COMMUNICATORS_H
#define CLIENTS_LIBPOET_MPI_COMMUNICATORS_H

#include "clients/libpoet/poet.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct mpi_request; /* see request.h */

struct communicator {
    uint64_t id; /* the same in all members, different from every other communicator's */
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

/* Returns NULL if it is not traced. */
struct communicator *communicator_find(MPI_Comm handle);
void communicators_begin(void);
/* Returns the rank in MPI_COMM_WORLD; -1: none. */
int communicator_world_rank(const struct communicator *comm, int rank);
/* For MPI_ANY_SOURCE: the communicator's. */
poet_line_t communicator_line(const struct communicator *comm, int rank);

#pragma GCC visibility pop
#endif
