/* Which functions are better not measured: those that are called so often, and take so little, that
 * measuring them is most of what is measured. */
#ifndef CLIENTS_CLI_EXCLUSION_LIST_H
#define CLIENTS_CLI_EXCLUSION_LIST_H

#include "clients/connection/result_table.h"

/* Writes them as a list that poetcc -ignore=@FILE reads, with what they cost; of the table of
 * calls, by function. */
void exclusion_list_write(FILE *f, const struct table_names *names,
                          const struct result_table *table);

#endif
