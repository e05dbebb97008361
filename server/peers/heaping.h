/* What programs took from their heaps is read out of the memory that they share, and goes to their journal. */
#ifndef SERVER_PEERS_HEAPING_H
#define SERVER_PEERS_HEAPING_H

#include "server/peers/peer.h"

/* A program hands such a memory over; the descriptor is taken over.  What is wrong with it; NULL: nothing. */
const char *heaping_begin(struct peer *peer, struct in *in, int fd);
void heaping_go_on(struct server *server); /* reads those that are due */
/* Before its last words are written: reads once more. */
void heaping_end(struct peer *peer);

#endif
