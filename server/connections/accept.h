/* Who may come in. */
#ifndef SERVER_CONNECTIONS_ACCEPT_H
#define SERVER_CONNECTIONS_ACCEPT_H

struct server;

#include <stdbool.h>

/* Takes or refuses whoever waits at a listener; far: by TLS. */
void accept_connection(struct server *server, int listener, bool far);

#endif
