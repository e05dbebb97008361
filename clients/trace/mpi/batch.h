/* Requests that one call waits for or tests. */
#ifndef CLIENTS_TRACE_MPI_BATCH_H
#define CLIENTS_TRACE_MPI_BATCH_H

#include "clients/trace/mpi/request.h"

#include <mpi.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct batch {
    struct request **requests; /* NULL: not followed */
    MPI_Status *statuses, *own;
    int count;
    bool any; /* is followed, and under way */
};

struct batch batch_begin(int count, MPI_Request *handles, MPI_Status *statuses);
void batch_end(struct batch *batch);

/* The thread waits: for the first of them that is under way. */
void batch_await(struct batch *batch, const void *site);
void batch_no_longer(struct batch *batch);

/* What one that is complete brought, and whether that is an event. */
bool batch_one(struct batch *batch, int i, const MPI_Status *status, const void *site);
void batch_all(struct batch *batch, bool waited, const void *site);
/* Which of them are done first is luck, and so it is told; in the order of `indices`. */
void batch_some(struct batch *batch, int count, const int *indices, bool waited, const void *site);

#pragma GCC visibility pop
#endif
