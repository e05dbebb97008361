/* Last sections of the page of poet report: data races, and what other schedules of the program
 * could expose. */
#ifndef CLIENTS_CLI_REPORT_PREDICTIONS_H
#define CLIENTS_CLI_REPORT_PREDICTIONS_H

#include "clients/cli/table_options.h"

#include <stdio.h>

/* Writes the kinds of potential bugs of the run and their number or, if there are none, that of the
 * orders that no synchronization enforces; nothing of a range, of a past, or of a run that is too
 * long to look for them beside other tables. source: the operand that named the run; NULL: none. */
void report_predictions_write(FILE *f, const struct table_settings *settings,
                              struct command_source *subject, const char *source);

/* Writes the first data races of the run, and how many more there are; nothing if there are none,
 * or of a range or a past. */
void report_races_write(FILE *f, const struct table_settings *settings,
                        struct command_source *subject, const char *source);

#endif
