/* Descriptions of the boxes of an icicle chart (icicle_view.h), for tooltips, assistive
 * technologies and tests. */
#ifndef CLIENTS_VIEWER_ANALYSIS_ICICLE_TOOLTIP_H
#define CLIENTS_VIEWER_ANALYSIS_ICICLE_TOOLTIP_H

#include "clients/metadata/icicle_layout.h"
#include "clients/connection/result_table.h"

#include <stdio.h>

/* Returns "main > serve > parse: 12 calls, self 3.100 ms, total 4.200 ms, 12.3 %" in new memory. */
char *icicle_tooltip_text(const struct icicle_layout *boxes, uint32_t node,
                          const struct result_table *table, const struct table_names *names);
/* As icicle_view_print. */
void icicle_tooltip_print(const struct icicle_layout *boxes, const struct icicle_boxes *places,
                          uint32_t top, uint32_t selected, const bool *found, FILE *f);

#endif
