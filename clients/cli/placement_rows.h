/* Which task was on which thread of the system, for a picture: asked for as a table of stays. */
#ifndef CLIENTS_CLI_PLACEMENT_ROWS_H
#define CLIENTS_CLI_PLACEMENT_ROWS_H

#include "clients/cli/diagram.h"

/* Of the window that is there; with --all of the whole run.  False with a complaint: nothing of it
 * is known, or the picture is not placed by time. */
bool placement_rows_request(const struct command *command, struct event_diagram *picture,
                            struct command_source *subject);

#endif
