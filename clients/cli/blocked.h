/* The JSON output of blocked threads and what they wait for. */
#ifndef CLIENTS_CLI_BLOCKED_H
#define CLIENTS_CLI_BLOCKED_H

#include "clients/cli/command_source.h"
#include "clients/connection/wait_list.h"

struct json_object;

struct json_object *blocked_json(struct command_source *subject, const struct wait_list *waits);

#endif
