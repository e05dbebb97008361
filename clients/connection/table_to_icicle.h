/* A table that is a tree, as boxes: rows of greater depth lie below the one that they belong to. */
#ifndef CLIENTS_CONNECTION_TABLE_TO_ICICLE_H
#define CLIENTS_CONNECTION_TABLE_TO_ICICLE_H

#include "clients/metadata/icicle_layout.h"
#include "clients/connection/result_table.h"

/* The column that widths are made of: `wanted`, or the first that says something of those that are
 * usual (total_ns, waited_ns, unfreed_bytes, calls); column_count: there is none, or nothing in it. */
uint32_t table_to_icicle_column(const struct result_table *table, const char *wanted);
/* Of a column that says what each row took itself (self, net, cpu, calls) a box holds those below
 * it, too; the others say that by themselves. */
bool table_to_icicle_is_own(const struct result_table *table, uint32_t column);
void table_to_icicle_make(struct icicle_layout *boxes, const struct table_names *names,
                          const struct result_table *table, uint32_t column);

#endif
