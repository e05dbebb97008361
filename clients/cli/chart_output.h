/* A chart in the place of a table. */
#ifndef CLIENTS_CLI_CHART_OUTPUT_H
#define CLIENTS_CLI_CHART_OUTPUT_H

#include "clients/cli/table_options.h"

/* Is one asked for, by --chart, or by --tree into a picture? */
bool chart_output_wanted(const struct table_settings *tables, const struct table_section *sections,
                         size_t count);
/* Draws it; an exit status, with complaints. */
int chart_output_run(const struct table_settings *tables, struct command_source *subject,
                     const struct table_section *sections, size_t count);

#endif
