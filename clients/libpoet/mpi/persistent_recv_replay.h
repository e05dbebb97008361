/* Persistent receives from any source (MPI_Recv_init) in a replayed run: each start receives from
 * the recorded source, by another MPI request that replaces the program's. */
#ifndef CLIENTS_LIBPOET_MPI_PERSISTENT_RECV_REPLAY_H
#define CLIENTS_LIBPOET_MPI_PERSISTENT_RECV_REPLAY_H

#include "clients/libpoet/mpi/mpi_request.h"

#include <mpi.h>

#pragma GCC visibility push(hidden)

/* Creates the replacement for a persistent receive. Returns NULL if no run is being replayed, or
 * there is no memory. */
struct persistent_recv *persistent_recv_create(MPI_Request own, void *data, int n,
                                               MPI_Datatype type, int tag, MPI_Comm comm);
/* Returns the request to start instead, which receives from `from` (MPI_ANY_SOURCE: any source). */
MPI_Request persistent_recv_start(struct persistent_recv *prepared, int from);
/* Replaces handles of which the program has kept copies by those that were started. Must hold the
 * lock. */
void persistent_recv_find(int count, MPI_Request *handles);
/* May be NULL; the handle that was started last stays. */
void persistent_recv_free(struct persistent_recv *prepared);

#pragma GCC visibility pop
#endif
