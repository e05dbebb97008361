/* Requests that one call waits for or tests. */
#ifndef CLIENTS_LIBPOET_MPI_REQUEST_BATCH_H
#define CLIENTS_LIBPOET_MPI_REQUEST_BATCH_H

#include "clients/libpoet/mpi/mpi_request.h"

#include <mpi.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct request_batch {
    struct mpi_request **requests; /* NULL: not followed */
    MPI_Status *statuses, *own;
    int count;
    bool any; /* is followed, and under way */
};

struct request_batch request_batch_begin(int count, MPI_Request *handles, MPI_Status *statuses);
void request_batch_end(struct request_batch *batch);

/* The thread waits: for the first of them that is under way. */
void request_batch_wait_begin(struct request_batch *batch, const void *site);
void request_batch_wait_end(struct request_batch *batch);

/* What one that is complete brought, and whether that is an event. */
bool request_batch_complete_one(struct request_batch *batch, int i, const MPI_Status *status,
                                const void *site);
void request_batch_complete_all(struct request_batch *batch, bool waited, const void *site);
/* Which of them are done first is luck, and so it is told; in the order of `indices`. */
void request_batch_complete_some(struct request_batch *batch, int count, const int *indices,
                                 bool waited, const void *site);

#pragma GCC visibility pop
#endif
