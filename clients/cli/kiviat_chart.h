/* Meters as a Kiviat graph (render/kiviat.h): formulas that are shares, or per cent, and of which a
 * description, or a file of one's own, says what is good. */
#ifndef CLIENTS_CLI_KIVIAT_CHART_H
#define CLIENTS_CLI_KIVIAT_CHART_H

#include "clients/cli/table_options.h"

/* Of the table of meters: an exit status, with a complaint. */
int kiviat_chart_write(const struct table_settings *tables, const struct command_source *subject,
                       const struct result_table *meters);

#endif
