/* Shared cells (poet_watch). */
#ifndef CLIENTS_LIBPOET_PROFILE_SAMPLED_CELLS_H
#define CLIENTS_LIBPOET_PROFILE_SAMPLED_CELLS_H

#pragma GCC visibility push(hidden)

void sampled_cells_announce(void); /* to a server that has just been found */
void sampled_cells_forked(void); /* in a child: they are its own from now on */

#pragma GCC visibility pop
#endif
