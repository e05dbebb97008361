/* poet predict of several runs: lock orders that are a potential deadlock together, and those that
 * contradict a file of intended ones. */
#ifndef CLIENTS_CLI_LOCK_ORDER_RUNS_H
#define CLIENTS_CLI_LOCK_ORDER_RUNS_H

#include "clients/cli/command.h"

#include <stdbool.h>

struct lock_order_runs {
    const struct command *command;
    char **traces;
    unsigned count;
    const char *intended; /* a file of intended orders; NULL: none */
};

/* Prints the findings of the runs, or in another form if finding_options.h says so. Returns the
 * exit status. */
int lock_order_runs_predict(const struct lock_order_runs *runs);

#endif
