/* Whether a run has an event, and what is said where it has not. */
#ifndef CLIENTS_CLI_EVENT_CHECK_H
#define CLIENTS_CLI_EVENT_CHECK_H

#include "clients/cli/command_source.h"

/* Asks for the event's line, if that is not known yet.  False: a sentence in why, "no event 1:5 in
 * this run (line 1 has 4 events)" or what kept it from being known. */
bool event_check_exists(struct command_source *subject, struct event_id at, struct error *why);

#endif
