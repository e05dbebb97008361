/* First words: the secret, where there is one, and HELLO, which says who it is. */
#ifndef SERVER_PEERS_GREET_H
#define SERVER_PEERS_GREET_H

#include "server/peers/peer.h"

extern const struct connection_handler handshake_handler;
void handshake_step(struct server *server); /* those whose secret could not be looked at yet */

#endif
