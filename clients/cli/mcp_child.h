/* A child process with bounds on its output, which is collected, and on its time. Not
 * thread-safe. */
#ifndef CLIENTS_CLI_MCP_CHILD_H
#define CLIENTS_CLI_MCP_CHILD_H

#include "wire/endpoint.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first bytes of one output of a child, at most the limit, and how many there were. */
struct mcp_output {
    char *text; /* ends with NUL */
    size_t size;
    uint64_t total;
};

struct mcp_child {
    struct mcp_output out, errors;
    int status; /* its exit status, or 128 + the signal that ended it */
    bool timed_out, cancelled; /* it was killed, with its descendants */
};

struct mcp_limits {
    size_t bytes; /* of each output */
    unsigned seconds;
    /* While the child runs, called when there is input at *input (-1: none, or no longer); returns
     * whether the child is to be killed. */
    const int *input;
    bool (*receive)(void *user);
    void *user;
};

/* Runs a program by its path, without input, and waits for it. Returns false with the reason in
 * *error if it could not be started. The caller frees the child's outputs in any case. */
bool mcp_child_run(const char *path, char *const *arguments, const struct mcp_limits *limits,
                   struct mcp_child *child, struct error *error);
void mcp_child_free(struct mcp_child *child);

#endif
