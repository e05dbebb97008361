/* Texts of broken rules (rows of the table `violations`). */
#ifndef CLIENTS_CONNECTION_VIOLATION_TEXT_H
#define CLIENTS_CONNECTION_VIOLATION_TEXT_H

#include "clients/connection/result_table.h"

#include <stdbool.h>

/* Begins each of them in commands and in the viewer. */
#define VIOLATION_HEAD "RULE VIOLATION:"

struct trace_metadata;

/* Returns whether the run may have such events: one of its types of events has that role. */
bool violation_text_possible(const struct trace_metadata *book);
/* Returns the cell of that name of a row; an empty one if there is no such column. */
const struct table_cell *violation_text_cell(const struct result_table *table, uint32_t row,
                                             const char *name);
/* Returns the label of a line of a row; NULL if the cell has none. */
const char *violation_text_label(const struct table_names *names, const struct result_table *table,
                                 uint32_t row, const char *name);
/* Returns the rule. */
const char *violation_text_rule(const struct result_table *table, uint32_t row);
int64_t violation_text_count(const struct result_table *table, uint32_t row);
/* Returns "T:worker: it is deleted before its main has ended (by T:main)", in new memory. */
char *violation_text_sentence(const struct table_names *names, const struct result_table *table,
                              uint32_t row);
/* Returns the call site of the first event of a row in new memory, "" if it is unknown. */
char *violation_text_place(const struct table_names *names, const struct result_table *table,
                           uint32_t row);

#endif
