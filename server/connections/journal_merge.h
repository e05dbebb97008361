/* Journal merging: orders agents' journal files as one run, as if they were forwarded now. */
#ifndef SERVER_CONNECTIONS_JOURNAL_MERGE_H
#define SERVER_CONNECTIONS_JOURNAL_MERGE_H

#include <stdbool.h>
#include <stddef.h>

struct server;

/* Reports its errors; returns false if no run was made. */
bool journal_merge(struct server *server, const char *const *files, size_t count);

#endif
