/* Charts of thread states along time, in a file or on the terminal. */
#ifndef CLIENTS_CLI_STATE_CHARTS_H
#define CLIENTS_CLI_STATE_CHARTS_H

#include "clients/cli/table_options.h"

/* Returns whether there is a chart of that kind: "gantt" and "overview": when threads were at work;
 * "transitions": their states. */
bool state_charts_known(const char *kind);
/* Draws the threads in the table of states, whose shares are requested, with the critical path over
 * them, by piece (NULL: without); tables->chart is the kind. Returns an exit status, after
 * reporting errors. */
int state_charts_write(const struct table_settings *tables, struct command_source *subject,
                       const struct result_table *states, const struct result_table *pieces);

#endif
