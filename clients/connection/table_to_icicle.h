/* Conversion of a table that is a tree to boxes: rows of greater depth are below the row that they
 * belong to. */
#ifndef CLIENTS_CONNECTION_TABLE_TO_ICICLE_H
#define CLIENTS_CONNECTION_TABLE_TO_ICICLE_H

#include "clients/metadata/icicle_layout.h"
#include "clients/connection/result_table.h"

/* Returns the column for the widths: `wanted`, or the first nonempty one of the usual ones
 * (total_ns, waited_ns, unfreed_bytes, calls); column_count if there is none, or it is empty. */
uint32_t table_to_icicle_column(const struct result_table *table, const char *wanted);
/* Returns whether a column has each row's own value (self, net, cpu, calls), which excludes the
 * rows below it; in other columns values include them. */
bool table_to_icicle_is_own(const struct result_table *table, uint32_t column);
void table_to_icicle_make(struct icicle_layout *boxes, const struct table_names *names,
                          const struct result_table *table, uint32_t column);

#endif
