/* Patterns of events in requests of commands: the names in them are replaced by numbers, as the
 * server reads them. */
#ifndef CLIENTS_CLI_PATTERN_REQUEST_H
#define CLIENTS_CLI_PATTERN_REQUEST_H

#include "clients/cli/command_source.h"
#include "config/event_pattern.h"

/* Returns a pattern as the server reads it, in new memory; all lines that it names must be known.
 * Returns NULL after reporting an error. */
char *pattern_request_text(const struct command *command, struct command_source *subject,
                           const char *text, const struct event_pattern *pattern);

#endif
