/* The handshake: accepts or refuses a connection, then receives the first messages of the peer: the
 * secret if one is required, and HELLO, which identifies the peer. */
#ifndef SERVER_CONNECTIONS_HANDSHAKE_H
#define SERVER_CONNECTIONS_HANDSHAKE_H

#include "server/connections/connection.h"

/* Accepts or refuses a connection that waits at a listener; remote: over TLS.  Returns whether it
 * was accepted. */
bool handshake_accept(struct server *server, int listener, bool remote);
/* Accepts all connections of this host that wait, if a peer has hung up since the last call: a
 * program may leave only when those of that time are accepted. */
void handshake_accept_all(struct server *server);

extern const struct connection_handler handshake_handler;
/* Continues with the peers that had to wait: an agent did not know yet whether its destination
 * answers. */
void handshake_step(struct server *server);

#endif
