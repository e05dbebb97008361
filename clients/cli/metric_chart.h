/* Curves of figures over time, in a file or in the terminal. */
#ifndef CLIENTS_CLI_METRIC_CHART_H
#define CLIENTS_CLI_METRIC_CHART_H

#include "clients/cli/table_options.h"

bool metric_chart_is_available(const char *what); /* are there curves of this preset? */
/* Of these lines alone, if there are any (what --lines said); an exit status, with complaints. */
int metric_chart_write(const struct table_settings *tables, struct command_source *subject,
                       const char *what, const uint32_t *lines, uint32_t line_count);

#endif
