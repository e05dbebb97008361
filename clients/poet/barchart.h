/* Waits as bars: how long, of which kind, charged to what; in a file. */
#ifndef CLIENTS_POET_BARCHART_H
#define CLIENTS_POET_BARCHART_H

#include "clients/poet/tables.h"

/* Of the table of waits: an exit status, with a complaint. */
int wait_chart_write(const struct table_settings *tables, const struct command_source *subject,
                     const struct result_table *waits);

#endif
