/* Output of a chart in place of a table. */
#ifndef CLIENTS_CLI_CHART_OUTPUT_H
#define CLIENTS_CLI_CHART_OUTPUT_H

#include "clients/cli/table_options.h"

/* Returns whether a chart was requested, by --chart, or by --tree with an image file. */
bool chart_output_wanted(const struct table_settings *tables, const struct table_section *sections,
                         size_t count);
/* Draws it. Returns an exit status, after reporting errors. */
int chart_output_run(const struct table_settings *tables, struct command_source *subject,
                     const struct table_section *sections, size_t count);

#endif
