/* Placement of tasks on worker threads, for a diagram: requested as a table of placements. */
#ifndef CLIENTS_CLI_PLACEMENT_ROWS_H
#define CLIENTS_CLI_PLACEMENT_ROWS_H

#include "clients/cli/diagram.h"

/* For the current window; with --all for the whole run. Returns false after reporting an error:
 * nothing is known, or the diagram is not placed by time. */
bool placement_rows_request(const struct command *command, struct event_diagram *picture,
                            struct command_source *subject);

#endif
