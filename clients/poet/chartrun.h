/* A chart in the place of a table. */
#ifndef CLIENTS_POET_CHARTRUN_H
#define CLIENTS_POET_CHARTRUN_H

#include "clients/poet/tables.h"

/* Is one asked for, by --chart, or by --tree into a picture? */
bool chart_output_wanted(const struct table_settings *tables, const struct table_section *sections,
                         size_t count);
/* Draws it; an exit status, with complaints. */
int chart_output_run(const struct table_settings *tables, struct command_source *subject,
                     const struct table_section *sections, size_t count);

#endif
