/* The events of a run that are part of a deadlock, for a diagram. */
#ifndef CLIENTS_CLI_DEADLOCK_EVENTS_H
#define CLIENTS_CLI_DEADLOCK_EVENTS_H

#include "clients/cli/command.h"
#include "clients/cli/command_source.h"

/* Gets pairs of events, which the caller frees: that by which a thread waits, and that by which the
 * next one entered; NULL: no deadlock. Returns false after reporting an error. */
bool deadlock_events_get(const struct command *command, struct command_source *subject,
                         struct event_id **pairs, uint32_t *count);

#endif
