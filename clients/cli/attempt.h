/* One run of a program that is tried: it goes until it ends, hangs for certain, or has had its
 * time. */
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
    unsigned patience_s; /* so long at most */
    const struct target_hang *aim; /* which hang it is to come to */
};

struct attempt_result {
    int status; /* as waitpid says */
    bool hangs; /* for certain: a cycle, or who waits can never be woken, */
    bool otherwise; /* but it is not the hang that is wanted */
    bool slow; /* it was ended because its time was over */
    char *output, *errors; /* what it wrote */
    size_t output_bytes, error_bytes;
};

/* False: it could not be started, said why, with an exit status in end->status. */
bool attempt_run(const struct attempt *trial, struct attempt_result *end);
void attempt_end_free(struct attempt_result *end); /* what it wrote */

#endif
