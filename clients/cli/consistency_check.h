/* Whether what a trace tells of time keeps the rules that follow from its definitions: states fill
 * lives, reasons and charges add up to waits, the critical path is as long as what it explains. */
#ifndef CLIENTS_CLI_CONSISTENCY_CHECK_H
#define CLIENTS_CLI_CONSISTENCY_CHECK_H

#include "clients/cli/command_source.h"

/* Calls say for each rule that is broken, with the event (line 0: none) and the thread; on a
 * terminal it says how far it is when that takes long.  False, with a complaint: there is no
 * answer. */
bool consistency_check_request(const struct command *command, struct command_source *subject,
                               void (*say)(void *user, struct event_id at, uint32_t thread,
                                           const char *what),
                               void *user);

#endif
