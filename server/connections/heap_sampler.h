/* Reads programs' heap allocations from the memory that they share, and writes them to their
 * journal. */
#ifndef SERVER_CONNECTIONS_HEAP_SAMPLER_H
#define SERVER_CONNECTIONS_HEAP_SAMPLER_H

#include "server/connections/connection.h"

/* Takes over a program's shared heap memory, and its descriptor.  Returns what is wrong with it,
 * or NULL. */
const char *heap_sampler_begin(struct connection *peer, struct decoder *in, int fd);
void heap_sampler_step(struct server *server); /* reads those that are due */
/* Before its last words are written: reads once more. */
void heap_sampler_end(struct connection *peer);

#endif
