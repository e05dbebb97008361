/* Requests that are complete. */
#ifndef CLIENTS_TRACE_MPI_COMPLETE_H
#define CLIENTS_TRACE_MPI_COMPLETE_H

#include "clients/trace/mpi/request.h"

#include <mpi.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* A request is complete: records what it brought. */
bool completion_finish(struct mpi_request *request, const MPI_Status *status, const void *site);

#pragma GCC visibility pop
#endif
