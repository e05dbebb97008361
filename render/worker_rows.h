/* Worker threads, the system threads that run tasks of a runtime (in the code: carriers), and the
 * placement of tasks on them; from the table of placements. If the diagram is placed by time, each
 * is a row below those of the lines. */
#ifndef RENDER_WORKER_ROWS_H
#define RENDER_WORKER_ROWS_H

#include "wire/table_rows.h"

struct worker_rows { /* zeroed: none */
    struct worker_row {
        char *name, *cluster; /* cluster: "" none */
    } *items; /* those of one cluster are adjacent */
    uint32_t count;
    struct worker_placement {
        uint32_t carrier; /* index */
        uint32_t task; /* line */
        int64_t from_ns, to_ns;
        bool came; /* migrated from another worker thread */
    } *placements; /* by worker thread, then by begin */
    uint32_t placement_count;
};

/* Copies what it needs from the table; carriers: previously filled, freed, or zeroed. */
void worker_rows_read(struct worker_rows *carriers, const struct result_table *table);
void worker_rows_free(struct worker_rows *carriers); /* leaves it empty */

#endif
