/* The threads of the system that run tasks of a runtime (*carriers*: its processors), and which task was on which; the
 * answer to a table of stays.  Placed by time, each is a row of a picture, below those of the lines. */
#ifndef RENDER_CARRIERS_H
#define RENDER_CARRIERS_H

#include "wire/table.h"

struct carriers { /* zero-initialised: none */
    struct carrier_row {
        char *name, *cluster; /* cluster: "" none */
    } *items; /* those of one cluster side by side */
    uint32_t count;
    struct carried_stay {
        uint32_t carrier; /* index */
        uint32_t task; /* line */
        int64_t from_ns, to_ns;
        bool came; /* from another carrier */
    } *stays; /* by carrier, then by when they begin */
    uint32_t stay_count;
};

/* Takes a copy of what it needs; carriers: as it was, freed, or empty. */
void carriers_read(struct carriers *carriers, const struct shown_table *table);
void carriers_free(struct carriers *carriers); /* empties it */

#endif
