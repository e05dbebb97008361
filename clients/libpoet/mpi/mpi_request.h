/* Requests: pending sends, receives and collective calls, by their handles. */
#ifndef CLIENTS_LIBPOET_MPI_MPI_REQUEST_H
#define CLIENTS_LIBPOET_MPI_MPI_REQUEST_H

#include "clients/libpoet/mpi/communicators.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

struct collective_plan; /* see collective_plan.h */
struct persistent_recv;

struct mpi_request {
    enum { REQUEST_SEND, REQUEST_RECEIVE, REQUEST_COLLECTIVE } kind;
    MPI_Request handle;
    bool known; /* it has a handle */
    bool persistent, active;
    bool awaited; /* some thread is waiting for it: must not be accessed */
    bool taken; /* in use by a call in progress: several sends may have the same handle */
    bool over; /* complete, but which message it got is not known yet */
    bool assigned; /* `sequence` is set */
    struct communicator *comm;
    int peer, tag; /* as posted; of completed receives: as received */
    uint64_t sequence;
    uint32_t asked; /* which poet_replay_begin_nondeterministic it is; 0: none */
    bool any; /* its source, or its order of completion, is nondeterministic: it is recorded */
    bool together; /* reported by a call that reports the following event, too */
    /* NULL: it is started as created */
    struct persistent_recv *prepared;
    struct collective_plan *plan;
    struct mpi_request *before, *after; /* among the posted receives */
    struct mpi_request *next; /* in the table, or free */
};

/* ---- the table: must hold the lock (tracing_state.h) for all functions ---- */

struct mpi_request *mpi_request_new(struct communicator *comm, int peer, int tag);
void mpi_request_keep(struct mpi_request *request, MPI_Request handle);
/* Returns one that is not taken; NULL: not traced. */
struct mpi_request *mpi_request_find(MPI_Request handle);
/* The request has another handle now. */
void mpi_request_rename(struct mpi_request *request, MPI_Request handle);
void mpi_request_forget(struct mpi_request *request);

/* ---- persistent receives from any source (MPI_Recv_init) in a replayed run ---- Each start
 * receives from the recorded source, by another MPI request that replaces the program's. */

/* Creates the replacement for a persistent receive. Returns NULL if no run is being replayed, or
 * there is no memory. */
struct persistent_recv *persistent_recv_create(MPI_Request own, void *data, int n,
                                               MPI_Datatype type, int tag, MPI_Comm comm);
/* Returns the request to start instead, which receives from `from` (MPI_ANY_SOURCE: any source). */
MPI_Request persistent_recv_start(struct persistent_recv *prepared, int from);
/* Replaces handles of which the program has kept copies by those that were started. Must hold the
 * lock. */
void persistent_recv_find(int count, MPI_Request *handles);

#pragma GCC visibility pop

#endif
