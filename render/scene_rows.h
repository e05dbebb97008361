/* The rows of a scene, of lines and of worker threads: their layout, and their labels. */
#ifndef RENDER_SCENE_ROWS_H
#define RENDER_SCENE_ROWS_H

#include "render/scene_builder.h"
#include "wire/table_rows.h"

void scene_rows_build(struct builder *b); /* also sets where the columns begin */
/* Returns the length in bytes of a label without the address after the name. */
int scene_rows_name_bytes(const char *label);

/* Rows of worker threads, the system threads that run tasks of a runtime (in the code: carriers),
 * and the placement of tasks on them; from the table of placements. */

struct painter;

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

/* ---- in a scene that is placed by time ---- */

/* Each is a row below those of the lines, with the tasks on it and their migrations; above those of
 * a cluster, how many of its worker threads ran a task. */

/* Adds the bars, after the marks were placed. */
void worker_row_scene_placements(struct builder *b);
/* Paints the visible bars of rows. */
void worker_row_scene_paint(const struct painter *painter);

#endif
