/* A chart in the place of a table. */
#ifndef CLIENTS_POET_CHARTRUN_H
#define CLIENTS_POET_CHARTRUN_H

#include "clients/poet/tables.h"

/* Is one asked for, by --chart, or by --tree into a picture? */
bool chartrun_wanted(const struct tables *tables, const struct tables_section *sections,
                     size_t count);
/* Draws it; an exit status, with complaints. */
int chartrun(const struct tables *tables, struct subject *subject,
             const struct tables_section *sections, size_t count);

#endif
