/* Receives from anybody that are prepared once and started again and again (MPI_Recv_init), in a
 * run that is repeated: each start takes the message of whom it took, by another request of MPI's,
 * which takes the place of the program's. */
#ifndef CLIENTS_LIBPOET_MPI_PERSISTENT_RECV_REPLAY_H
#define CLIENTS_LIBPOET_MPI_PERSISTENT_RECV_REPLAY_H

#include "clients/libpoet/mpi/mpi_request.h"

#include <mpi.h>

#pragma GCC visibility push(hidden)

/* A receive was prepared so; NULL: nothing is repeated, or there is no memory. */
struct persistent_recv *persistent_recv_create(MPI_Request own, void *data, int n,
                                               MPI_Datatype type, int tag, MPI_Comm comm);
/* It is started, to take the message of `from` (MPI_ANY_SOURCE: anybody's): what is to be
 * started. */
MPI_Request persistent_recv_start(struct persistent_recv *prepared, int from);
/* Handles of which the program has kept copies: each becomes the one that was started.  Under the
 * lock. */
void persistent_recv_find(int count, MPI_Request *handles);
void persistent_recv_free(
    struct persistent_recv *prepared); /* NULL too; the handle that was started last stays */

#pragma GCC visibility pop
#endif
