/* Merging: journals of agents that lie in files are ordered as one run, as if they were forwarded
 * now. */
#ifndef SERVER_CONNECTIONS_JOURNAL_MERGE_H
#define SERVER_CONNECTIONS_JOURNAL_MERGE_H

#include <stdbool.h>
#include <stddef.h>

struct server;

/* All is said; false: nothing was made. */
bool journal_merge(struct server *server, const char *const *files, size_t count);

#endif
