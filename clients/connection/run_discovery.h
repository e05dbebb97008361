/* What there is to be looked at without being named: the traces of a directory, those of the user's
 * state directory, and where servers of this user's may listen. */
#ifndef CLIENTS_CONNECTION_RUN_DISCOVERY_H
#define CLIENTS_CONNECTION_RUN_DISCOVERY_H

#include <stdbool.h>
#include <stddef.h>

/* $XDG_STATE_HOME/poet, else ~/.local/state/poet: where a server puts its runs. */
void run_discovery_state(char *path, size_t size);

typedef void around_take(void *user, const char *what);
/* Each regular file NAME.poet of a directory, in no order: "NAME.poet" of ".", else
 * "DIRECTORY/NAME.poet". */
void run_discovery_files(const char *directory, around_take *take, void *user);
/* Each endpoint at which a server of this user's may listen; there need be none. */
void run_discovery_endpoints(around_take *take, void *user);

/* The file that a name means: itself; else, of a name without a slash, NAME or NAME.poet of the
 * state directory.  False: there is none, and path is the name. */
bool run_discovery_find(const char *name, char *path, size_t size);

#endif
