/* The table of the lines of a source (clients/sourcefile/annotated_source.h): its visible columns,
 * searching its rows (-1: not found), and writing it. */
#ifndef CLIENTS_VIEWER_ANALYSIS_SOURCE_ROWS_H
#define CLIENTS_VIEWER_ANALYSIS_SOURCE_ROWS_H

#include "clients/connection/result_table.h"
#include "clients/viewer/analysis/grid.h"
#include "render/document.h"
#include "wire/table_rows.h"

extern const struct grid_column source_rows_columns[];
extern const unsigned source_rows_styles[]; /* of each column */

int source_rows_find_line(const struct result_table *table, int number);
int source_rows_find_heaviest(const struct result_table *table);
/* Returns the first row that contains a text, ignoring case, from a row on, wrapping around. */
int source_rows_find_text(const struct result_table *table, uint32_t from, const char *text);
/* Writes it as poet source does; returns NULL, or an error message. */
const char *source_rows_write(const struct result_table *table, const struct table_names *names,
                              const struct document_options *options, const char *file);

#endif
