/* First words: the secret, where there is one, and HELLO, which says who it is. */
#ifndef SERVER_CONNECTIONS_HANDSHAKE_H
#define SERVER_CONNECTIONS_HANDSHAKE_H

#include "server/connections/connection.h"

extern const struct connection_handler handshake_handler;
void handshake_step(struct server *server); /* those whose secret could not be looked at yet */

#endif
