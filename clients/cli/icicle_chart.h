/* Tables that are trees, as a picture: calls, waits and memory as an icicle, in a file or in
 * letters. */
#ifndef CLIENTS_CLI_ICICLE_CHART_H
#define CLIENTS_CLI_ICICLE_CHART_H

#include "clients/cli/table_options.h"

/* Is it wanted of these tables?  --tree with a picture, or --chart icicle. */
bool icicle_chart_wanted(const struct table_settings *tables, const struct table_section *sections,
                         size_t count);
bool icicle_chart_form(
    const struct table_settings *tables); /* may it be written into such a file? */
/* As the table is to be asked for: as a tree, by what boxes are as wide as. */
struct table_settings icicle_chart_tables(const struct table_settings *tables);
/* An exit status, with complaints. */
int icicle_chart_write(const struct table_settings *tables, const struct command_source *subject,
                       const struct result_table *table);

#endif
