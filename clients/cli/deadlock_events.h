/* Which events of a run are part of a deadlock, for a picture of it. */
#ifndef CLIENTS_CLI_DEADLOCK_EVENTS_H
#define CLIENTS_CLI_DEADLOCK_EVENTS_H

#include "clients/cli/command.h"
#include "clients/cli/command_source.h"

/* Pairs, freed by the caller: by which event a thread waits, and by which the next one came in;
 * NULL: there is no deadlock.  False with a complaint. */
bool deadlock_events_get(const struct command *command, struct command_source *subject,
                         struct event_id **pairs, uint32_t *count);

#endif
