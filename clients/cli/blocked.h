/* Output of blocked threads and what they wait for, as text and JSON. */
#ifndef CLIENTS_CLI_BLOCKED_H
#define CLIENTS_CLI_BLOCKED_H

#include "clients/cli/command_source.h"
#include "clients/connection/wait_list.h"

struct json_object;

/* Prints problems first, then all blocked threads. */
void blocked_print(struct command_source *subject, const struct wait_list *waits);
struct json_object *blocked_json(struct command_source *subject, const struct wait_list *waits);

#endif
