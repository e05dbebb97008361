/* Tables that are trees, as a picture: calls, waits and memory as an icicle, in a file or in letters. */
#ifndef CLIENTS_POET_TREECHART_H
#define CLIENTS_POET_TREECHART_H

#include "clients/poet/tables.h"

/* Is it wanted of these tables?  --tree with a picture, or --chart icicle. */
bool treechart_wanted(const struct tables *tables, const struct tables_section *sections,
                      size_t count);
bool treechart_form(const struct tables *tables); /* may it be written into such a file? */
/* As the table is to be asked for: as a tree, by what boxes are as wide as. */
struct tables treechart_tables(const struct tables *tables);
/* An exit status, with complaints. */
int treechart_write(const struct tables *tables, const struct subject *subject,
                    const struct shown_table *table);

#endif
