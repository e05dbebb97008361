/* Blocked threads and what they wait for: the request, and its output as text and JSON. */
#ifndef CLIENTS_CLI_BLOCKED_H
#define CLIENTS_CLI_BLOCKED_H

#include "clients/cli/command_source.h"
#include "clients/connection/wait_list.h"

struct json_object;

/* Requests what `waits` receives, which the caller frees in any case; false after reporting an
 * error. */
bool blocked_request(const struct command *command, struct command_source *subject,
                     struct wait_list *waits);
/* Prints problems first, then all blocked threads. */
void blocked_print(struct command_source *subject, const struct wait_list *waits);
struct json_object *blocked_json(struct command_source *subject, const struct wait_list *waits);

#endif
