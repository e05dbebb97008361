/* The threads of the system that run tasks of a runtime (*carriers*: its processors), and which
 * task was on which; the answer to a table of stays.  Placed by time, each is a row of a picture,
 * below those of the lines. */
#ifndef RENDER_WORKER_ROWS_H
#define RENDER_WORKER_ROWS_H

#include "wire/table_rows.h"

struct worker_rows { /* zero-initialised: none */
    struct worker_row {
        char *name, *cluster; /* cluster: "" none */
    } *items; /* those of one cluster side by side */
    uint32_t count;
    struct worker_placement {
        uint32_t carrier; /* index */
        uint32_t task; /* line */
        int64_t from_ns, to_ns;
        bool came; /* from another carrier */
    } *stays; /* by carrier, then by when they begin */
    uint32_t stay_count;
};

/* Takes a copy of what it needs; carriers: as it was, freed, or empty. */
void worker_rows_read(struct worker_rows *carriers, const struct result_table *table);
void worker_rows_free(struct worker_rows *carriers); /* empties it */

#endif
