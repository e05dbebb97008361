/* Tables that are trees, as a picture: calls, waits and memory as an icicle, in a file or in letters. */
#ifndef CLIENTS_POET_TREECHART_H
#define CLIENTS_POET_TREECHART_H

#include "clients/poet/tables.h"

/* Is it wanted of these tables?  --tree with a picture, or --chart icicle. */
bool treechart_wanted(const struct tables *tables, const struct tables_section *sections,
                      size_t count);
/* Asks for the table and writes it; an exit status, with complaints. */
int treechart_run(const struct tables *tables, struct subject *subject,
                  const struct tables_section *section);

#endif
