/* Charts of metrics over time, in a file or on the terminal. */
#ifndef CLIENTS_CLI_METRIC_CHART_H
#define CLIENTS_CLI_METRIC_CHART_H

#include "clients/cli/table_options.h"

bool metric_chart_is_available(const char *what); /* whether this preset has curves */
/* Draws only these lines, if there are any (from --threads). Returns an exit status, after
 * reporting errors. */
int metric_chart_write(const struct table_settings *tables, struct command_source *subject,
                       const char *what, const uint32_t *lines, uint32_t line_count);

#endif
