/* What programs took from their heaps is read out of the memory that they share, and goes to their
 * journal. */
#ifndef SERVER_CONNECTIONS_HEAP_SAMPLER_H
#define SERVER_CONNECTIONS_HEAP_SAMPLER_H

#include "server/connections/connection.h"

/* A program hands such a memory over; the descriptor is taken over.  What is wrong with it; NULL:
 * nothing. */
const char *heap_sampler_begin(struct connection *peer, struct decoder *in, int fd);
void heap_sampler_step(struct server *server); /* reads those that are due */
/* Before its last words are written: reads once more. */
void heap_sampler_end(struct connection *peer);

#endif
