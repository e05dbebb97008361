/* Announcement of a metric's name to the server. */
#ifndef CLIENTS_LIBPOET_PROFILE_METRIC_NAME_H
#define CLIENTS_LIBPOET_PROFILE_METRIC_NAME_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* wire/metric_messages.h lists codes and kinds. Does nothing if no server takes it. */
void metric_name_send(uint32_t code, unsigned kind, const char *name, const char *unit);

#pragma GCC visibility pop
#endif
