/* Cells that programs store to are looked at now and then, and what they stand at goes to the journal. */
#ifndef SERVER_PEERS_CELLING_H
#define SERVER_PEERS_CELLING_H

#include "server/peers/peer.h"

/* A program hands such a memory over; the descriptor is taken over.  What is wrong with it; NULL: nothing. */
const char *celling_begin(struct peer *peer, struct in *in, int fd);
/* It tells of a meter: the body of a METER. */
void celling_named(struct peer *peer, const uint8_t *body, size_t size);
void celling_go_on(struct server *server); /* looks at those that are due */
void celling_now(struct peer *peer); /* looks, whether that is due or not */
void celling_end(struct peer *peer); /* before its last words are written: looks once more */

#endif
