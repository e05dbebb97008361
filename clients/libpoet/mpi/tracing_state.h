/* Global state of MPI tracing: whether calls are traced, its memory, and its lock. */
#ifndef CLIENTS_LIBPOET_MPI_TRACING_STATE_H
#define CLIENTS_LIBPOET_MPI_TRACING_STATE_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

#define SITE ((const char *)__builtin_extract_return_addr(__builtin_return_address(0)) - 1)
#define API __attribute__((visibility("default")))

extern bool mpi_tracing;  /* between MPI_Init and MPI_Finalize of a traced program */
extern bool mpi_is_threaded; /* several threads may call at once */

/* The lock of communicators and requests. Must never be held while a call may block. */
void tracing_state_lock(void);
void tracing_state_unlock(void);

/* Returns zeroed memory. If there is none, operations in progress get a reserve, and nothing is
 * traced any more; NULL: the reserve is used up, too. */
void *tracing_state_alloc(size_t n, size_t each);
void tracing_state_free(void *p); /* p: from tracing_state_alloc, or NULL. */

#pragma GCC visibility pop
#endif
