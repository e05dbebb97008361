/* Making a suspected order happen: the program runs under schedule control (hold_points.h), and how
 * often it fails then is compared with the runs that were recorded. */
#ifndef CLIENTS_CLI_SUSPECT_CONFIRM_H
#define CLIENTS_CLI_SUSPECT_CONFIRM_H

#include "clients/cli/command.h"
#include "clients/schedule/order_predicates.h"

struct suspect_confirmation {
    const struct command *command;
    const struct order_predicate *item;
    const char *trace; /* the example */
    unsigned number; /* of the item in the list, for messages */
    unsigned failed, runs; /* how many of the recorded runs failed */
};

/* Runs the program of the trace several times and prints the result on standard output. Returns 0
 * if it fails more often than chance explains, 1 if not, or if the order cannot be made to happen,
 * 2 after an error. */
int suspect_confirm(const struct suspect_confirmation *confirmation);

#endif
