/* Steps of one name that were called from different places say so; who is alone with his name need
 * not. */
#ifndef SERVER_QUERIES_TABLES_DISAMBIGUATE_H
#define SERVER_QUERIES_TABLES_DISAMBIGUATE_H

#include "wire/table_rows.h"

/* Leaves the caller with those steps alone that have a namesake among the rows. */
void disambiguate_names(struct result_table *table);

#endif
