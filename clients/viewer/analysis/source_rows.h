/* The table of the lines of a source (clients/sourcefile/annotated_source.h): which columns it is
 * shown with, looking for rows of it (-1: there is none), and writing it. */
#ifndef CLIENTS_VIEWER_ANALYSIS_SOURCE_ROWS_H
#define CLIENTS_VIEWER_ANALYSIS_SOURCE_ROWS_H

#include "clients/connection/result_table.h"
#include "clients/viewer/analysis/grid.h"
#include "render/document.h"
#include "wire/table_rows.h"

extern const struct grid_column source_rows_columns[];
extern const unsigned source_rows_styles[]; /* of each of them */

int source_rows_find_line(const struct result_table *table, int number);
int source_rows_find_heaviest(const struct result_table *table);
/* The first with a text in it, in whatever case, from a row on and around. */
int source_rows_find_text(const struct result_table *table, uint32_t from, const char *text);
/* As poet source writes it; NULL, or what went wrong. */
const char *source_rows_write(const struct result_table *table, const struct table_names *names,
                              const struct document_options *options, const char *file);

#endif
