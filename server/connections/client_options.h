/* Options that a program's user sets for the server: the sampling rate, and a file with the
 * measurement settings. */
#ifndef SERVER_CONNECTIONS_CLIENT_OPTIONS_H
#define SERVER_CONNECTIONS_CLIENT_OPTIONS_H

#include "server/connections/connection.h"

/* Handles the body of a METER if it is such an option; returns false if it declares a metric. */
bool client_options_receive(struct connection *peer, const uint8_t *body, size_t size);

#endif
