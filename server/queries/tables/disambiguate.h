/* Disambiguation of code segments with the same name: they show their callers if these differ. */
#ifndef SERVER_QUERIES_TABLES_DISAMBIGUATE_H
#define SERVER_QUERIES_TABLES_DISAMBIGUATE_H

#include "wire/table_rows.h"

/* Removes the caller from each code segment, unless a segment of another row has the same name and
 * a different caller. */
void disambiguate_names(struct result_table *table);

#endif
