/* Requests: sends, receives and collective calls that were begun, by their handles.  All under the
 * lock. */
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
    bool awaited; /* some thread waits for it now: not to be looked at */
    bool taken; /* by a call under way: several sends may have the same handle */
    bool over; /* complete, but which message it got is not known yet */
    bool assigned; /* `sequence` is */
    struct communicator *comm;
    int peer, tag; /* as posted; of what is over: as received */
    uint64_t sequence;
    uint32_t asked; /* which poet_replay_begin_nondeterministic it is; 0: none */
    bool any; /* whose message it gets, or whether it comes before others, is luck: it is told */
    bool together; /* told by a call that tells of another one behind it */
    struct persistent_recv
        *prepared; /* persistent_recv_replay.h; NULL: it is started as it was made */
    struct collective_plan *plan;
    struct mpi_request *before, *after; /* among the posted receives */
    struct mpi_request *next; /* in the table, or free */
};

struct mpi_request *mpi_request_new(struct communicator *comm, int peer, int tag);
void mpi_request_keep(struct mpi_request *request, MPI_Request handle);
struct mpi_request *
mpi_request_find(MPI_Request handle); /* one that is not taken; NULL: not followed */
void mpi_request_rename(struct mpi_request *request,
                        MPI_Request handle); /* it has another one now */
void mpi_request_forget(struct mpi_request *request);

#pragma GCC visibility pop
#endif
