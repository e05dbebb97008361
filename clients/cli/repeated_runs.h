/* Recording a program many times: each run has its own trace in a directory, below failed/ or
 * passed/ by its exit status. */
#ifndef CLIENTS_CLI_REPEATED_RUNS_H
#define CLIENTS_CLI_REPEATED_RUNS_H

#include "clients/cli/command.h"

#include <stdbool.h>

#define REPEATED_RUNS_MOST 4096u

struct repeated_runs {
    const struct command *command;
    const char *directory; /* created if it does not exist */
    unsigned count; /* of runs */
    bool until_failure; /* the first failed run is the last */
    bool perturbs; /* threads pause for random times */
};

/* Runs `record` so many times, each time in a child process: it replaces itself by the program, or
 * returns the exit status, and writes the trace to the file. The output of a run is written to a
 * file beside its trace, NUMBER.out. Ends early after an interrupt. Returns 0 if all runs passed,
 * 1 if one failed, 2 if runs could not be recorded, after reporting the error. */
int repeated_runs_record(const struct repeated_runs *runs,
                         int (*record)(void *user, const char *trace), void *user);

#endif
