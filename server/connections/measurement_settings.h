/* Passes the measurement settings that viewers requested to the threads of programs, as bits in
 * the heads of their queues. */
#ifndef SERVER_CONNECTIONS_MEASUREMENT_SETTINGS_H
#define SERVER_CONNECTIONS_MEASUREMENT_SETTINGS_H

#include "server/connections/connection.h"

/* Applies the settings to a new queue of a program.  Must hold the capture lock. */
void measurement_settings_queue(const struct connection *peer);
void measurement_settings_step(struct server *server);

#endif
