/* Consistency check of a trace's times: the rules that follow from their definitions. States fill
 * lifetimes, reasons and attributed times add up to waits, the critical path is as long as what it
 * explains. */
#ifndef CLIENTS_CLI_CONSISTENCY_CHECK_H
#define CLIENTS_CLI_CONSISTENCY_CHECK_H

#include "clients/cli/command_source.h"

/* Calls `report` for each broken rule, with the event (line 0: none) and the thread; on a terminal
 * it shows the progress of long checks. Returns false, after reporting the error, if there is no
 * response. */
bool consistency_check_request(const struct command *command, struct command_source *subject,
                               void (*report)(void *user, struct event_id at, uint32_t thread,
                                              const char *what),
                               void *user);

#endif
