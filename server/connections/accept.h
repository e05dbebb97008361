/* Accepts and refuses connections. */
#ifndef SERVER_CONNECTIONS_ACCEPT_H
#define SERVER_CONNECTIONS_ACCEPT_H

struct server;

#include <stdbool.h>

/* Accepts or refuses a connection that waits at a listener; remote: over TLS. */
void accept_connection(struct server *server, int listener, bool remote);

#endif
