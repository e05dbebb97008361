/* JSON of poet attach: the object of poet blocked, and the stack of each thread. */
#ifndef CLIENTS_CLI_ATTACH_JSON_H
#define CLIENTS_CLI_ATTACH_JSON_H

#include "clients/cli/attach_output.h"

struct json_object;

/* Returns an object, which the caller frees. */
struct json_object *attach_json(const struct attach_output *output);

#endif
