/* What a server reads itself instead of being told it: a run from NATS. */
#ifndef SERVER_PEERS_READING_H
#define SERVER_PEERS_READING_H

#include <stdbool.h>

struct server;

bool reading_begin(struct server *server, const char *from); /* false, and said why */
void reading_end(struct server *server);

#endif
