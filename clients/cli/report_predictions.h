/* Last section of the page of poet report: what other schedules of the program could expose. */
#ifndef CLIENTS_CLI_REPORT_PREDICTIONS_H
#define CLIENTS_CLI_REPORT_PREDICTIONS_H

#include "clients/cli/table_options.h"

#include <stdio.h>

/* Writes the kinds of potential bugs of the run and their number or, if there are none, that of the
 * orders that no synchronization enforces; nothing of a range, of a past, or of a run that is too
 * long to look for them beside other tables. source: the operand that named the run; NULL: none. */
void report_predictions_write(FILE *f, const struct table_settings *settings,
                              struct command_source *subject, const char *source);

#endif
