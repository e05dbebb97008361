/* Accepts and refuses connections. */
#ifndef SERVER_CONNECTIONS_ACCEPT_H
#define SERVER_CONNECTIONS_ACCEPT_H

struct server;

#include <stdbool.h>

/* Accepts or refuses a connection that waits at a listener; remote: over TLS.  Returns whether it
 * was accepted. */
bool accept_connection(struct server *server, int listener, bool remote);
/* Accepts all connections of this host that wait, if a peer has hung up since the last call: a
 * program may leave only when those of that time are accepted. */
void accept_all_local(struct server *server);

#endif
