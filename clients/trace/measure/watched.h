/* Shared cells (poet_watch). */
#ifndef CLIENTS_TRACE_MEASURE_WATCHED_H
#define CLIENTS_TRACE_MEASURE_WATCHED_H

#pragma GCC visibility push(hidden)

void sampled_cells_announce(void); /* to a server that has just been found */
void sampled_cells_forked(void); /* in a child: they are its own from now on */

#pragma GCC visibility pop
#endif
