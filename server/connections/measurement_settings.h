/* What viewers want measured is passed on to the threads of programs: bits in the heads of their
 * queues. */
#ifndef SERVER_CONNECTIONS_MEASUREMENT_SETTINGS_H
#define SERVER_CONNECTIONS_MEASUREMENT_SETTINGS_H

#include "server/connections/connection.h"

/* It has one queue more: what is wanted of all. In the door. */
void measurement_settings_queue(const struct connection *peer);
void measurement_settings_step(struct server *server);

#endif
