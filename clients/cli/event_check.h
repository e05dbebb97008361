/* Check whether a run has an event, with the error message if not. */
#ifndef CLIENTS_CLI_EVENT_CHECK_H
#define CLIENTS_CLI_EVENT_CHECK_H

#include "clients/cli/command_source.h"

/* Requests the event's line, if it is not known yet. Returns false with a sentence in why: "no
 * event 1:5 in this run (line 1 has 4 events)", or the error that prevented the check. */
bool event_check_exists(struct command_source *subject, struct event_id at, struct error *why);

#endif
