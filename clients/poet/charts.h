/* Charts of the states of threads along time, in a file or in the terminal. */
#ifndef CLIENTS_POET_CHARTS_H
#define CLIENTS_POET_CHARTS_H

#include "clients/poet/tables.h"

/* tables->chart says which: an exit status, with a complaint. */
int charts_run(const struct tables *tables, struct subject *subject);

#endif
