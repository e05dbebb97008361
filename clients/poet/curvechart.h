/* Curves of figures over time, in a file or in the terminal. */
#ifndef CLIENTS_POET_CURVECHART_H
#define CLIENTS_POET_CURVECHART_H

#include "clients/poet/tables.h"

bool curvechart_of(const char *what); /* are there curves of this preset? */
/* An exit status, with complaints. */
int curvechart_write(const struct tables *tables, struct subject *subject, const char *what);

#endif
