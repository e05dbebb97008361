/* Waits as bars: how long, of which kind, charged to what; in a file. */
#ifndef CLIENTS_CLI_WAIT_CHART_H
#define CLIENTS_CLI_WAIT_CHART_H

#include "clients/cli/table_options.h"

/* Of the table of waits: an exit status, with a complaint. */
int wait_chart_write(const struct table_settings *tables, const struct command_source *subject,
                     const struct result_table *waits);

#endif
