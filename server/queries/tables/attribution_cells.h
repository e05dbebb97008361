/* What the tables of waiting have in common: the range and the threads that count, steps in
 * cells. */
#ifndef SERVER_QUERIES_TABLES_ATTRIBUTION_CELLS_H
#define SERVER_QUERIES_TABLES_ATTRIBUTION_CELLS_H

#include "server/queries/tables/table_query.h"
#include "server/analysis/wait_attribution.h"
#include "server/timing/resume_delay.h"

struct attribution_cells {
    const struct run *run;
    enum attribution_since since;
    int64_t from_ns;
    int64_t
        *until_ns; /* by thread's index: where what counts of it ends; INT64_MIN: nothing does */
    uint32_t until_count;
    int64_t life_ns; /* of all that counts */
};

/* False, with a problem that the caller frees: the request is wrong. */
bool attribution_cells_begin(struct attribution_cells *causing, const struct table_view *view,
                             char **problem);
bool attribution_cells_prepare(struct attribution_cells *causing, uint64_t *budget);
void attribution_cells_free(struct attribution_cells *causing);
/* Is an option of the preset set? */
bool attribution_cells_wants(const struct table_view *view, const char *option);
/* "7": a line; 0 where the option is not set or no number. */
uint32_t attribution_cells_line(const struct table_view *view, const char *option);
/* "4:7": an event; line 0 likewise. */
struct event_id attribution_cells_event(const struct table_view *view, const char *option);
/* A step of a cause, in words where none is recorded. */
struct table_cell attribution_cells_step(const struct table_view *view, uint32_t step);
struct table_cell attribution_cells_text(const char *text); /* a copy; NULL or "" is null */
const char *attribution_cells_class(unsigned class);
/* Columns of how long it took to go on, what of it was ready, what latency, and by what source that
 * is known. */
void attribution_cells_add_delay(struct result_table *table);
void attribution_cells_resume_delay(struct table_cell *cells, const struct resume_delay *going_on);

#endif
