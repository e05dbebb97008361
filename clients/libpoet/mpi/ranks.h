/* The ranks of MPI_COMM_WORLD, and the lines of their main threads. */
#ifndef CLIENTS_LIBPOET_MPI_RANKS_H
#define CLIENTS_LIBPOET_MPI_RANKS_H

#include "clients/libpoet/poet.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Exchanges the lines of all ranks. Collective: ranks that are not traced must take part, too. own:
 * this process's rank; line: its line, 0 if it is not traced. */
void ranks_exchange(poet_line_t line, int own);
int ranks_count(void);
bool ranks_all_traced(void);

/* Returns the line of a rank of MPI_COMM_WORLD; 0: it is not traced. */
poet_line_t rank_line(int world);
bool rank_traced(int world);
/* Returns a number that identifies this MPI_COMM_WORLD. */
uint64_t rank_job_key(void);

#pragma GCC visibility pop
#endif
