/* User-defined metrics, and shared cells (poet_watch): their names, kept for servers that connect
 * later and for child processes. */
#ifndef CLIENTS_LIBPOET_PROFILE_USER_METRICS_H
#define CLIENTS_LIBPOET_PROFILE_USER_METRICS_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Announces a metric's name to the server. wire/metric_messages.h lists codes and kinds. Does
 * nothing if no server takes it. */
void metric_name_send(uint32_t code, unsigned kind, const char *name, const char *unit);

/* Announces all metrics and cells to a server that has just been connected. */
void user_metrics_announce(void);
void user_metrics_forked(void); /* Called in a child, which gets its own shared cells. */

#pragma GCC visibility pop

#endif
