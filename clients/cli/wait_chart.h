/* Bar charts of waits: how long, of which class, attributed to what; in a file. */
#ifndef CLIENTS_CLI_WAIT_CHART_H
#define CLIENTS_CLI_WAIT_CHART_H

#include "clients/cli/table_options.h"

/* Draws the table of waits; returns an exit status, after reporting errors. */
int wait_chart_write(const struct table_settings *tables, const struct command_source *subject,
                     const struct result_table *waits);

#endif
