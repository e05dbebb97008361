/* Who calls whom, as a picture of boxes and arrows. */
#ifndef CLIENTS_CLI_CALL_GRAPH_CHART_H
#define CLIENTS_CLI_CALL_GRAPH_CHART_H

#include "clients/cli/table_options.h"

/* Is it wanted of these tables?  --chart tree of calls. */
bool call_graph_chart_wanted(const struct table_settings *tables,
                             const struct table_section *sections, size_t count);
/* How it is to be asked for. */
struct table_section call_graph_chart_section(void);
/* Of that table; an exit status, with complaints. */
int call_graph_chart_write(const struct table_settings *tables,
                           const struct command_source *subject, const struct result_table *table);

#endif
