/* Programs of this machine are looked at now and then: what the system says of them goes to their journal. */
#ifndef SERVER_PEERS_WATCHING_H
#define SERVER_PEERS_WATCHING_H

#include "server/peers/peer.h"

/* A program that just said who it is: `pid` by its own account. */
void watching_begin(struct peer *peer, uint32_t pid);
/* It has one queue more, the first of them.  In the door. */
void watching_queue(const struct peer *peer);
void watching_go_on(struct server *server); /* samples those that are due */
/* Before its last words are written; looks once more, if there is still something to see. */
void watching_end(struct peer *peer);

/* It is sampled so many times a second from now on. */
void watching_rate(struct peer *peer, unsigned hertz);

#endif
