/* What is said of a box of an icicle (boxed.h): where one points, to who does not see it, and to tests. */
#ifndef CLIENTS_VIEW_DRAWER_BOXSAID_H
#define CLIENTS_VIEW_DRAWER_BOXSAID_H

#include "clients/book/boxes.h"
#include "clients/source/table.h"

#include <stdio.h>

/* "main > serve > parse: 12 calls, self 3.100 ms, total 4.200 ms, 12.3 %"; new memory. */
char *boxsaid_node(const struct boxes *boxes, uint32_t node, const struct shown_table *table,
                   const struct table_names *names);
/* As boxed_print. */
void boxsaid_print(const struct boxes *boxes, const struct boxes_places *places, uint32_t top,
                   uint32_t selected, const bool *found, FILE *f);

#endif
