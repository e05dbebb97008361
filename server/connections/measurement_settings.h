/* Measurement settings of programs: passes those that viewers requested to their threads, as bits
 * in the heads of their queues, and receives the options that a program's user sets for the server,
 * the sampling rate and a file of settings. */
#ifndef SERVER_CONNECTIONS_MEASUREMENT_SETTINGS_H
#define SERVER_CONNECTIONS_MEASUREMENT_SETTINGS_H

#include "server/connections/connection.h"

/* Applies the settings to a new queue of a program.  Must hold the capture lock. */
void measurement_settings_queue(const struct connection *peer);
/* Passes what viewers requested since the last call. */
void measurement_settings_step(struct server *server);

/* Handles the body of a METER if it is an option of the program's user; returns false if it
 * declares a metric. */
bool measurement_option_receive(struct connection *peer, const uint8_t *body, size_t size);

#endif
