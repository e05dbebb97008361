/* Whether calls are followed, and what following them takes: memory, and one lock. */
#ifndef CLIENTS_LIBPOET_MPI_TRACING_STATE_H
#define CLIENTS_LIBPOET_MPI_TRACING_STATE_H

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

#define SITE __builtin_extract_return_addr(__builtin_return_address(0))
#define API __attribute__((visibility("default")))

extern bool mpi_tracing;  /* between MPI_Init and MPI_Finalize of a traced program */
extern bool mpi_is_threaded; /* several threads may call at once */

/* What is known of communicators and requests is touched under it.  Never held while a call may
 * block. */
void tracing_state_lock(void);
void tracing_state_unlock(void);

/* Zeroed memory of ours.  Where there is none, what is under way gets the last of it, and nothing
 * is followed any more; NULL: even that is too little. */
void *tracing_state_alloc(size_t n, size_t each);
void tracing_state_free(void *p); /* what take() gave; NULL too */

#pragma GCC visibility pop
#endif
