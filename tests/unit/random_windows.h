/* Windows of a random execution, for tests of the layout. */
#ifndef TESTS_UNIT_RANDOM_WINDOWS_H
#define TESTS_UNIT_RANDOM_WINDOWS_H

#include "server/order/layout/column_assignment.h"
#include "tests/bruteforce.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static struct execution x;

static uint8_t shown[EXECUTION_LINES + 1], no_cluster[EXECUTION_LINES + 1];
static uint32_t row_of[EXECUTION_LINES + 1];

static inline void rows_from_shown(void)
{
    for (uint32_t i = 0; i < EXECUTION_LINES; i++)
        row_of[i] = shown[i] ? i + 1 : 0;
}

static inline struct layout_result window_at(struct order *order, uint64_t anchor, int32_t from,
                                             uint32_t columns)
{
    struct layout_params placing = {.anchor = anchor,
                                    .from = from,
                                    .columns = columns,
                                    .row_of = row_of,
                                    .cluster = no_cluster,
                                    .rows = EXECUTION_LINES};
    struct layout_result placement;
    rows_from_shown();
    layout_columns(order, &placing, &placement);
    return placement;
}

static inline int32_t column_of(const struct layout_result *p, uint64_t position, bool *found)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->events[i].position == position) {
            *found = true;
            return p->events[i].column;
        }
    *found = false;
    return 0;
}

#endif
