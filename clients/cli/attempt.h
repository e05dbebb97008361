/* One attempt to run a program: until it exits, certainly hangs, or times out. */
#ifndef CLIENTS_CLI_ATTEMPT_H
#define CLIENTS_CLI_ATTEMPT_H

#include "clients/cli/rerun.h"
#include "clients/cli/target_hang.h"

#include <stdbool.h>

struct attempt {
    const struct command *command;
    const struct preload_check *loadable;
    char **words;
    struct rerun again;
    unsigned timeout_s; /* timeout */
    const struct target_hang *aim; /* the hang to reproduce */
};

struct attempt_result {
    int status; /* as from waitpid */
    bool hangs; /* certainly: a deadlock cycle, or waiters that can never be woken */
    bool otherwise; /* it hangs, but not as wanted */
    bool slow; /* it was killed after the timeout */
    char *output, *errors; /* what it wrote */
    size_t output_bytes, error_bytes;
};

/* Returns false if it could not be started; the error was printed, and end->status is the exit
 * status. */
bool attempt_run(const struct attempt *trial, struct attempt_result *end);
void attempt_end_free(struct attempt_result *end); /* frees the output */

#endif
