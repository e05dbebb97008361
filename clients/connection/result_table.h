/* A table as the server tells it (wire/table_rows.h), and in words: lines by their labels, places
 * of the code by file and line. */
#ifndef CLIENTS_CONNECTION_RESULT_TABLE_H
#define CLIENTS_CONNECTION_RESULT_TABLE_H

#include "clients/metadata/trace_metadata.h"
#include "clients/metadata/text_table.h"
#include "clients/symbols/symbolizer.h"
#include "wire/request.h"
#include "wire/table_rows.h"

/* Takes a part of the answer to TABLE; true once all is there. */
bool result_table_receive(struct result_table *table, const struct response_chunk *answer);

/* Who knows what things are called. */
struct table_names {
    const struct trace_metadata *book;
    struct symbolizer *sites;
};

/* A cell in words, new memory: "205.170" ms, "41.2 %", "T:producer", "main (hold.c:5)";
 * "-" where nothing is known. */
char *result_table_cell_text(const struct table_names *names, const struct table_column *column,
                             const struct table_cell *cell);
/* "main (hold.c:5)", "hold.c:5"; `nowhere` where there is no place.  New
 * memory. */
char *result_table_place_text(const struct table_names *names, struct table_place place,
                              const char *nowhere);
/* What stands above a column: "blocked (ms)".  New memory. */
char *result_table_title_text(const struct table_column *column);

/* Columns by their names (result_table_find_column), in this order: "thread,blocked_ns"; NULL: all
 * that are no details; "all": all.  New memory; NULL: there is none of the name in *unknown, which
 * is new memory, too. */
uint32_t *result_table_choose_columns(const struct result_table *table, const char *list,
                                      uint32_t *count, char **unknown);

/* These columns in words. */
void result_table_to_text(struct text_table *sheet, const struct table_names *names,
                          const struct result_table *table, const uint32_t *columns,
                          uint32_t count);

#endif
