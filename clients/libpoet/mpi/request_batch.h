/* Requests that one call waits for or tests. */
#ifndef CLIENTS_LIBPOET_MPI_REQUEST_BATCH_H
#define CLIENTS_LIBPOET_MPI_REQUEST_BATCH_H

#include "clients/libpoet/mpi/mpi_request.h"

#include <mpi.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct request_batch {
    struct mpi_request **requests; /* NULL: not traced */
    MPI_Status *statuses, *own;
    int count;
    bool any; /* one is traced and pending */
};

struct request_batch request_batch_begin(int count, MPI_Request *handles, MPI_Status *statuses);
void request_batch_end(struct request_batch *batch);

/* Records that the thread waits for the first pending one of them. */
void request_batch_wait_begin(struct request_batch *batch, const void *site);
void request_batch_wait_end(struct request_batch *batch);

/* Records what a completed request received; returns whether that is an event. */
bool request_batch_complete_one(struct request_batch *batch, int i, const MPI_Status *status,
                                const void *site);
void request_batch_complete_all(struct request_batch *batch, bool waited, const void *site);
/* Records several completions, in the order of `indices`, since it depends on scheduling which
 * requests complete first. */
void request_batch_complete_some(struct request_batch *batch, int count, const int *indices,
                                 bool waited, const void *site);

#pragma GCC visibility pop
#endif
