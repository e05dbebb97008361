/* A picture of states: how each line spent the run, where there is too much for a mark each. */
#ifndef CLIENTS_CLI_STATE_DIAGRAM_H
#define CLIENTS_CLI_STATE_DIAGRAM_H

#include "clients/cli/diagram.h"
#include "clients/cli/command_source.h"
#include "render/document.h"

/* Of the whole run, by time or by order as the picture is wanted; an exit status, with a complaint
 * if it is not good. */
int state_diagram_write(const struct command *command, const struct event_diagram *picture,
                        struct command_source *subject, const struct document_options *page,
                        const char *file);

#endif
