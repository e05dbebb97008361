/* The traced communicators: the ranks of MPI_COMM_WORLD, the members of each communicator, and
 * an id that all members know. */
#ifndef CLIENTS_LIBPOET_MPI_COMMUNICATORS_H
#define CLIENTS_LIBPOET_MPI_COMMUNICATORS_H

#include "clients/libpoet/poet.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* ---- the ranks of MPI_COMM_WORLD, and the lines of their main threads ---- */

/* Exchanges the lines of all ranks. Collective: ranks that are not traced must take part, too. own:
 * this process's rank; line: its line, 0 if it is not traced. */
void ranks_exchange(poet_line_t line, int own);
int ranks_count(void);
bool ranks_all_traced(void);

/* Returns the line of a rank of MPI_COMM_WORLD; 0: it is not traced. */
poet_line_t rank_line(int world);
bool rank_traced(int world);
/* Returns a number that identifies this MPI_COMM_WORLD. */
uint64_t rank_job_key(void);

/* ---- communicators ---- */

struct mpi_request; /* see mpi_request.h */

struct communicator {
    uint64_t id; /* the same in all members, different from every other communicator's */
    int rank, size;
    bool inter;
    bool whole; /* all members are traced */
    int *peers; /* rank here (of the remote group, if it is an intercommunicator) -> world */
    int peer_count;
    int self; /* rank in the world */
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
