/* Discovery of runs: the traces of a directory, those of the user's state directory, and the
 * endpoints of the user's servers. */
#ifndef CLIENTS_CONNECTION_RUN_DISCOVERY_H
#define CLIENTS_CONNECTION_RUN_DISCOVERY_H

#include <stdbool.h>
#include <stddef.h>

/* Gets $XDG_STATE_HOME/poet, else ~/.local/state/poet: where a server stores its runs. */
void run_discovery_state(char *path, size_t size);

typedef void around_take(void *user, const char *what);
/* Calls take() for each regular file NAME.poet of a directory, unordered: "NAME.poet" for ".", else
 * "DIRECTORY/NAME.poet". */
void run_discovery_files(const char *directory, around_take *take, void *user);
/* Calls take() for each endpoint at which a server of this user may listen; there need not be
 * one. */
void run_discovery_endpoints(around_take *take, void *user);

/* Resolves a name to a file: the name itself; else, if it has no slash, NAME or NAME.poet in the
 * state directory. Returns false if there is none; path is then the name. */
bool run_discovery_find(const char *name, char *path, size_t size);

#endif
