/* What the user of a program wants of the server: how often it is sampled, and a file that says
 * what is measured. */
#ifndef SERVER_CONNECTIONS_CLIENT_OPTIONS_H
#define SERVER_CONNECTIONS_CLIENT_OPTIONS_H

#include "server/connections/connection.h"

/* The body of a METER; false: it is none of these, but tells of a meter. */
bool client_options_receive(struct connection *peer, const uint8_t *body, size_t size);

#endif
