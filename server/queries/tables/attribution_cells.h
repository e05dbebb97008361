/* Common parts of the tables of waits: the range and the threads that count, and cells for code
 * segments. */
#ifndef SERVER_QUERIES_TABLES_ATTRIBUTION_CELLS_H
#define SERVER_QUERIES_TABLES_ATTRIBUTION_CELLS_H

#include "server/analysis/wait_attribution.h"
#include "server/queries/tables/table_query.h"
#include "server/timing/cpu_states.h"

struct attribution_cells {
    const struct run *run;
    enum attribution_since since;
    int64_t from_ns;
    int64_t *until_ns; /* by thread index: end of what counts of it; INT64_MIN: nothing counts */
    uint32_t until_count;
    int64_t life_ns; /* lifetime of all threads that count */
};

/* Returns false with the reason in *error if the request is invalid. */
bool attribution_cells_begin(struct attribution_cells *causing, const struct table_view *view,
                             struct error *error);
bool attribution_cells_prepare(struct attribution_cells *causing, uint64_t *budget);
void attribution_cells_free(struct attribution_cells *causing);
/* Returns whether an option of the preset is set. */
bool attribution_cells_wants(const struct table_view *view, const char *option);
/* Returns a line option such as "7"; 0 if it is not set or not a number. */
uint32_t attribution_cells_line(const struct table_view *view, const char *option);
/* Returns an event option such as "4:7"; line 0 if it is not set or invalid. */
struct event_id attribution_cells_event(const struct table_view *view, const char *option);
/* Returns a cell for the code segment of a cause, with a text for the special ones. */
struct table_cell attribution_cells_step(const struct table_view *view, uint32_t step);
/* Copies the text; NULL or "" makes a null cell. */
struct table_cell attribution_cells_text(const char *text);
const char *attribution_cells_class(unsigned class);
/* Columns of the wake-up latency: in total, runnable, the rest, and the source of that division. */
void attribution_cells_add_delay(struct result_table *table);
void attribution_cells_resume_delay(struct table_cell *cells, const struct resume_delay *going_on);

#endif
