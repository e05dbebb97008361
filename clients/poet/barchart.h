/* Waits as bars: how long, of which kind, charged to what; in a file. */
#ifndef CLIENTS_POET_BARCHART_H
#define CLIENTS_POET_BARCHART_H

#include "clients/poet/tables.h"

/* Of the table of waits: an exit status, with a complaint. */
int barchart_write(const struct tables *tables, const struct subject *subject,
                   const struct shown_table *waits);

#endif
