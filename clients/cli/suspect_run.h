/* The operations of a run, for predicates about the order of several runs (order_predicates.h). */
#ifndef CLIENTS_CLI_SUSPECT_RUN_H
#define CLIENTS_CLI_SUSPECT_RUN_H

#include "clients/cli/command.h"
#include "clients/schedule/order_predicates.h"

#include <stdbool.h>

#define SUSPECT_EVENTS_MOST 5000000u /* of a run; an event takes about 40 bytes of memory */

/* The naming of threads in operations: all of one name are one, or each has its number. A bug of a
 * pool shows in the first, one of two threads that differ in their argument in the second. */
enum suspect_names { SUSPECT_ROLES, SUSPECT_THREADS, SUSPECT_NAMES };

/* Reads a trace and adds it as a run that failed or passed, to predicates of both names. Returns
 * false after reporting an error. */
bool suspect_run_add(const struct command *command,
                     struct order_predicates *predicates[SUSPECT_NAMES], const char *trace,
                     bool failed);

#endif
