/* Output of a chart in place of a table: call graphs, icicles, Kiviat graphs and bars of waits,
 * made of the rows of a table; and those along time, of state_charts.c and metric_chart.c. */
#ifndef CLIENTS_CLI_CHART_OUTPUT_H
#define CLIENTS_CLI_CHART_OUTPUT_H

#include "clients/cli/table_options.h"

/* Returns whether a chart was requested, by --chart, or by --tree with an image file. */
bool chart_output_wanted(const struct table_settings *tables, const struct table_section *sections,
                         size_t count);
/* Draws it. Returns an exit status, after reporting errors. */
int chart_output_run(const struct table_settings *tables, struct command_source *subject,
                     const struct table_section *sections, size_t count);

/* ---- metric chart ---- */

bool metric_chart_is_available(const char *what); /* whether this preset has curves */
/* Draws only these lines, if there are any (from --threads). Returns an exit status, after
 * reporting errors. */
int metric_chart_write(const struct table_settings *tables, struct command_source *subject,
                       const char *what, const uint32_t *lines, uint32_t line_count);

/* ---- state charts ---- */

/* Returns whether there is a chart of that kind: "gantt" and "overview": when threads were at work;
 * "transitions": their states. */
bool state_charts_known(const char *kind);
/* Requests the shares of the threads in the table of states, and draws them with the critical path
 * over them, by piece (NULL: without); tables->chart is the kind. Returns an exit status, after
 * reporting errors. */
int state_charts_write(const struct table_settings *tables, struct command_source *subject,
                       const struct result_table *states, const struct result_table *pieces);

#endif
