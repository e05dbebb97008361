/* Shared cells (poet_watch). */
#ifndef CLIENTS_LIBPOET_PROFILE_SAMPLED_CELLS_H
#define CLIENTS_LIBPOET_PROFILE_SAMPLED_CELLS_H

#pragma GCC visibility push(hidden)

void sampled_cells_announce(void); /* Announces them to a server that has just been connected. */
void sampled_cells_forked(void); /* Called in a child, which gets its own cells. */

#pragma GCC visibility pop
#endif
