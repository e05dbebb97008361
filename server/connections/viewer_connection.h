/* Connections of viewers: answers their requests, sends notifications, and records the external
 * metrics that they send (poet watch).  The server never waits for a slow viewer. */
#ifndef SERVER_CONNECTIONS_VIEWER_CONNECTION_H
#define SERVER_CONNECTIONS_VIEWER_CONNECTION_H

#include "server/connections/connection.h"

extern const struct connection_handler viewer_handler;

void viewer_notify(
    struct server *server); /* notifies viewers that subscribed to the growth of their runs */
bool viewer_process_requests(
    struct server *server); /* a step for each; false if no request needs another step */

#endif
