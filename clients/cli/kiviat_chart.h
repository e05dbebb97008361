/* Kiviat graphs of metrics (render/kiviat.h): formulas that are shares or percentages, and for
 * which a description, or a user's file, says whether high or low is good. */
#ifndef CLIENTS_CLI_KIVIAT_CHART_H
#define CLIENTS_CLI_KIVIAT_CHART_H

#include "clients/cli/table_options.h"

/* Draws the table of metrics. Returns an exit status, after reporting errors. */
int kiviat_chart_write(const struct table_settings *tables, const struct command_source *subject,
                       const struct result_table *metrics);

#endif
