/* Writing a table as text, JSON or CSV. */
#ifndef CLIENTS_CLI_TABLE_FORMATS_H
#define CLIENTS_CLI_TABLE_FORMATS_H

#include "clients/connection/result_table.h"

#include <stdio.h>

/* Aligned, with totals and notes; preceded by a blank line unless it is the first. */
void table_format_text(FILE *f, const struct text_table *sheet, bool first);
/* what: a stable identifier of the table for scripts; NULL: the title. */
void table_format_json(FILE *f, const char *what, const struct table_names *names,
                       const struct result_table *table, const uint32_t *columns, uint32_t count);
/* RFC 4180: null is empty, times are whole ns. */
void table_format_csv(FILE *f, const struct table_names *names, const struct result_table *table,
                      const uint32_t *columns, uint32_t count);

#endif
