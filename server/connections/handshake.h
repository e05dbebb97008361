/* The handshake: the first messages of a peer, the secret if one is required, and HELLO, which
 * identifies the peer. */
#ifndef SERVER_CONNECTIONS_HANDSHAKE_H
#define SERVER_CONNECTIONS_HANDSHAKE_H

#include "server/connections/connection.h"

extern const struct connection_handler handshake_handler;
void handshake_step(struct server *server); /* those whose secret could not be looked at yet */

#endif
