/* Disambiguation of code segments with the same name: they show their caller, which others do not
 * need. */
#ifndef SERVER_QUERIES_TABLES_DISAMBIGUATE_H
#define SERVER_QUERIES_TABLES_DISAMBIGUATE_H

#include "wire/table_rows.h"

/* Removes the caller from all code segments whose name is unique among the rows. */
void disambiguate_names(struct result_table *table);

#endif
