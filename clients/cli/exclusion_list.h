/* Exclusion list of functions that are called so often, and run so briefly, that most of their
 * measured time is overhead. */
#ifndef CLIENTS_CLI_EXCLUSION_LIST_H
#define CLIENTS_CLI_EXCLUSION_LIST_H

#include "clients/connection/result_table.h"

/* Writes them, with their cost, as a list that poetcc -ignore=@FILE reads; from the table of calls,
 * by function. */
void exclusion_list_write(FILE *f, const struct table_names *names,
                          const struct result_table *table);

#endif
