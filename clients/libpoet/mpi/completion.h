/* Completed requests. */
#ifndef CLIENTS_LIBPOET_MPI_COMPLETION_H
#define CLIENTS_LIBPOET_MPI_COMPLETION_H

#include "clients/libpoet/mpi/mpi_request.h"

#include <mpi.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Records what a completed request received. */
bool completion_finish(struct mpi_request *request, const MPI_Status *status, const void *site);

#pragma GCC visibility pop
#endif
