/* Call graph charts: functions and calls as boxes and arrows. */
#ifndef CLIENTS_CLI_CALL_GRAPH_CHART_H
#define CLIENTS_CLI_CALL_GRAPH_CHART_H

#include "clients/cli/table_options.h"

/* Returns whether it was requested, by --chart tree of calls. */
bool call_graph_chart_wanted(const struct table_settings *tables,
                             const struct table_section *sections, size_t count);
/* Returns the table to request for it. */
struct table_section call_graph_chart_section(void);
/* Writes the chart of that table. Returns an exit status, after reporting errors. */
int call_graph_chart_write(const struct table_settings *tables,
                           const struct command_source *subject, const struct result_table *table);

#endif
