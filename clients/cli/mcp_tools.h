/* Tools of `poet mcp`: each is a command of Poet with parameters, one row of an array. A call
 * checks its arguments, runs the command, without a shell, and returns what it printed, with what
 * is known about the certainty of it. */
#ifndef CLIENTS_CLI_MCP_TOOLS_H
#define CLIENTS_CLI_MCP_TOOLS_H

#include "wire/endpoint.h"

#include <stdbool.h>
#include <stddef.h>

struct json_object;

struct mcp_settings {
    bool read_only; /* without the tools that run programs */
    unsigned seconds; /* of a call, at most; of a recorded program unless the call says it */
    size_t bytes; /* of one text of an answer */
    /* Input while a call runs: as in struct mcp_limits. */
    int input; /* -1: none, or no longer */
    bool (*receive)(void *user);
    void *user;
};

/* Returns the result of tools/list, an array; the caller frees it. */
struct json_object *mcp_tools_list(const struct mcp_settings *settings);
/* Returns the result of tools/call; the caller frees it. NULL, with the reason in *error, if there
 * is no such tool, or the arguments do not match its parameters. */
struct json_object *mcp_tools_call(const struct mcp_settings *settings, const char *name,
                                   struct json_object *arguments, struct error *error);

#endif
