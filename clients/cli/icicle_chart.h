/* Icicle charts of tables that are trees (calls, waits and memory), in a file or as text. */
#ifndef CLIENTS_CLI_ICICLE_CHART_H
#define CLIENTS_CLI_ICICLE_CHART_H

#include "clients/cli/table_options.h"

/* Returns whether it was requested, by --tree with an image file, or by --chart icicle. */
bool icicle_chart_wanted(const struct table_settings *tables, const struct table_section *sections,
                         size_t count);
/* Returns whether the format of the file is supported. */
bool icicle_chart_form(const struct table_settings *tables);
/* Returns the settings for requesting the table: as a tree, by the column for the widths. */
struct table_settings icicle_chart_tables(const struct table_settings *tables);
/* Returns an exit status, after reporting errors. */
int icicle_chart_write(const struct table_settings *tables, const struct command_source *subject,
                       const struct result_table *table);

#endif
