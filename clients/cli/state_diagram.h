/* State diagram: how each line spent the run, if there are too many events to draw each. */
#ifndef CLIENTS_CLI_STATE_DIAGRAM_H
#define CLIENTS_CLI_STATE_DIAGRAM_H

#include "clients/cli/diagram.h"
#include "clients/cli/command_source.h"
#include "render/document.h"

/* Draws the whole run, by time or by order as requested; returns an exit status, after reporting
 * errors. */
int state_diagram_write(const struct command *command, const struct event_diagram *picture,
                        struct command_source *subject, const struct document_options *page,
                        const char *file);

#endif
