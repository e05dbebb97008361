/* Who calls whom, as a picture of boxes and arrows. */
#ifndef CLIENTS_POET_GRAPHCHART_H
#define CLIENTS_POET_GRAPHCHART_H

#include "clients/poet/tables.h"

/* Is it wanted of these tables?  --chart tree of calls. */
bool graphchart_wanted(const struct tables *tables, const struct tables_section *sections,
                       size_t count);
/* How it is to be asked for. */
struct tables_section graphchart_section(void);
/* Of that table; an exit status, with complaints. */
int graphchart_write(const struct tables *tables, const struct subject *subject,
                     const struct shown_table *table);

#endif
