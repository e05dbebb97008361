/* Viewers: what they ask, and what they are told without asking.  A slow one is not waited for. */
#ifndef SERVER_CONNECTIONS_VIEWER_CONNECTION_H
#define SERVER_CONNECTIONS_VIEWER_CONNECTION_H

#include "server/connections/connection.h"

extern const struct connection_handler viewer_handler;

void viewer_notify(
    struct server *server); /* tells those who want to know that their runs have grown */
bool viewer_process_requests(
    struct server *server); /* a step for each; false if nobody waits for another */

#endif
