/* User-defined metrics: their names, kept for servers that connect later and for child
 * processes. */
#ifndef CLIENTS_LIBPOET_PROFILE_USER_METRICS_H
#define CLIENTS_LIBPOET_PROFILE_USER_METRICS_H

#pragma GCC visibility push(hidden)

/* Announces all metrics to a server that has just been connected. */
void user_metrics_announce(void);
void user_metrics_forked(void); /* Called in a child, which gets its own shared cells. */

#pragma GCC visibility pop
#endif
