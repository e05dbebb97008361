/* Calls that wait for requests or test them, and what completed requests received. */
#ifndef CLIENTS_LIBPOET_MPI_REQUEST_WAIT_H
#define CLIENTS_LIBPOET_MPI_REQUEST_WAIT_H

#include "clients/libpoet/mpi/mpi_request.h"

#include <mpi.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

/* Records what a completed request received. */
bool request_complete(struct mpi_request *request, const MPI_Status *status, const void *site);

#pragma GCC visibility pop

#endif
