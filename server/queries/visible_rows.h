/* Visible rows: which lines a window draws, and as which rows. */
#ifndef SERVER_QUERIES_VISIBLE_ROWS_H
#define SERVER_QUERIES_VISIBLE_ROWS_H

#include "server/order/layout/column_assignment.h"
#include "server/run/run.h"
#include "wire/layout_results.h"
#include "wire/request.h"

#include <stdbool.h>
#include <stdint.h>

struct visible_rows {
    struct row_info *rows;
    uint32_t row_count;
    uint32_t *row_of; /* by line - 1: number of its row, from 1; 0: none */
    uint8_t *cluster; /* by row: 1 for a line group */
    /* There are too many lines: only those with events in the window get rows, chosen for each
     * window. */
    bool many;
    uint8_t one; /* 0, used as `cluster` for placing: its only row is not a line group */
    uint32_t *is_drawn; /* by line - 1, used as row_of for placing: 1 if drawn */
    uint64_t drawn_count, idle_lines, left_lines;
    uint32_t lines;
};

/* Returns the lines that are drawn if no rows are requested, in their order; the caller frees it.
 */
uint32_t *visible_rows_lines(const struct run *run, uint32_t *count);

/* Chooses the requested rows, else those of all drawn lines; none yet if these are too many. */
void visible_rows_choose(struct visible_rows *drawn, const struct run *run,
                         const struct window_request *request);
/* If there are too many lines, makes rows for at most `most` lines with events in the window, and
 * removes events of other lines from the placement. */
void visible_rows_choose_seen(struct visible_rows *drawn, const struct run *run, uint32_t most,
                              struct layout_result *placement);
void visible_rows_free(struct visible_rows *drawn);

#endif
