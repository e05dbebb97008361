/* Reads a run from NATS into a server. */
#ifndef SERVER_CONNECTIONS_NATS_INPUT_H
#define SERVER_CONNECTIONS_NATS_INPUT_H

#include <stdbool.h>

struct server;

bool nats_input_begin(struct server *server, const char *from); /* false, and said why */
void nats_input_end(struct server *server);

#endif
