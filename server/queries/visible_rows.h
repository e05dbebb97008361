/* Which lines a window draws, and as which rows. */
#ifndef SERVER_QUERIES_VISIBLE_ROWS_H
#define SERVER_QUERIES_VISIBLE_ROWS_H

#include "server/order/layout/column_assignment.h"
#include "server/run/run.h"
#include "wire/request_body.h"
#include "wire/layout_results.h"

#include <stdbool.h>
#include <stdint.h>

struct visible_rows {
    struct row_info *rows;
    uint32_t row_count;
    uint32_t *row_of; /* by line - 1 */
    uint8_t *cluster; /* by row */
    /* Of too many lines only those get rows that have events in the window, each time anew. */
    bool many;
    uint8_t one;        /* for placing: none of its rows is a cluster */
    uint32_t *is_drawn; /* by line - 1, for placing: 1 or 0 */
    uint64_t drawn_count, idle_lines, left_lines;
    uint32_t lines;
};

/* The lines that are drawn when no rows are asked for, in their order; the caller's to free. */
uint32_t *visible_rows_lines(const struct run *run, uint32_t *count);

/* The rows that are asked for, else those of all lines that are drawn; none yet, if those are too
 * many. */
void visible_rows_choose(struct visible_rows *drawn, const struct run *run,
                         const struct window_request *request);
/* If they are too many: rows for the lines that have something in the window, at most so many; what
 * is placed on others leaves the placement. */
void visible_rows_choose_seen(struct visible_rows *drawn, const struct run *run, uint32_t most,
                              struct layout_result *placement);
void visible_rows_free(struct visible_rows *drawn);

#endif
