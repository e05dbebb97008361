/* The rows of a picture of two runs: those of the second one stand in the order of those of the first that they are matched
 * with, and are called as they are. */
#ifndef CLIENTS_POET_OPPOSITE_H
#define CLIENTS_POET_OPPOSITE_H

#include "clients/book/both.h"
#include "clients/plan/beside.h"

#define OPPOSITE_ROWS_MOST                                                                         \
    60u /* of the first run, and as many that only the second has; of more those that differ, then the first ones */

enum opposite_part { PART_NOT, PART_TAKES, PART_DIFFERS };

/* part: an enum opposite_part by line of `both`.  Lines of `both`, which the caller frees, count[0] of the first run, then
 * count[1] of the second; *left: so many more take part. */
uint32_t *opposite_rows(struct both *both, const struct beside *beside, const uint8_t *part,
                        uint32_t count[2], uint32_t *left);

#endif
