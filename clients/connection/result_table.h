/* Result tables as received from the server (wire/table_rows.h), and their conversion to text:
 * lines by label, code places by file and line. */
#ifndef CLIENTS_CONNECTION_RESULT_TABLE_H
#define CLIENTS_CONNECTION_RESULT_TABLE_H

#include "clients/metadata/trace_metadata.h"
#include "clients/metadata/text_table.h"
#include "clients/symbols/symbolizer.h"
#include "wire/request.h"
#include "wire/table_rows.h"

/* Processes a part of the response to TABLE; returns true once it is complete. */
bool result_table_receive(struct result_table *table, const struct response_chunk *answer);

/* Sources of names. */
struct table_names {
    const struct trace_metadata *book;
    struct symbolizer *sites;
};

/* Returns a cell as text in new memory: "205.170" ms, "41.2 %", "T:producer", "main (hold.c:5)";
 * "-" if unknown. */
char *result_table_cell_text(const struct table_names *names, const struct table_column *column,
                             const struct table_cell *cell);
/* Returns "main (hold.c:5)" or "hold.c:5"; `nowhere` if there is no place. New memory. */
char *result_table_place_text(const struct table_names *names, struct table_place place,
                              const char *nowhere);
/* Returns the name of the variable at an address of data, "table.count", else the address, in new
 * memory. */
char *result_table_data_text(const struct table_names *names, struct table_place address);
/* Returns whether the name is that of the place: "main (hold.c:5)" matches "main" and "hold.c:5";
 * the name may contain * and ?. */
bool result_table_place_matches(const struct table_names *names, struct table_place place,
                                const char *name);
/* Returns the title of a column: "blocked (ms)". New memory. */
char *result_table_title_text(const struct table_column *column);

/* Selects columns by name (result_table_find_column), in this order: "thread,blocked_ns"; NULL: all
 * that are neither details nor texts that are empty in all rows; "all": all. Returns new memory;
 * NULL if the name in *unknown, which is new memory, too, does not exist. */
uint32_t *result_table_choose_columns(const struct result_table *table, const char *list,
                                      uint32_t *count, char **unknown);

/* Converts these columns to text. */
void result_table_to_text(struct text_table *sheet, const struct table_names *names,
                          const struct result_table *table, const uint32_t *columns,
                          uint32_t count);

#endif
