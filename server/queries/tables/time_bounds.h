/* Bounds of the elapsed time of scopes, if only sums of calls are known.
 *
 * A scope was open for at least as long as the thread that had it open longest, and at most as long
 * as all threads together, or the run. */
#ifndef SERVER_QUERIES_TABLES_TIME_BOUNDS_H
#define SERVER_QUERIES_TABLES_TIME_BOUNDS_H

#include "server/queries/tables/scope_numbers.h"
#include "server/queries/tables/table_query.h"

struct time_bounds {
    struct scope_numbers scopes;
    struct time_bound { /* by scope number */
        uint64_t calls;
        int64_t longest_ns, all_ns; /* longest of one thread; sum over all threads */
        uint32_t threads;
        bool timed;
    } *items;
    size_t room;
    uint32_t next; /* index of the next thread to process */
};

/* Processes some threads; `bounds` must be zero-initialized first.  Returns true when all are
 * processed. */
bool time_bounds_step(struct time_bounds *bounds, const struct table_view *view, uint64_t *budget);
/* Adds columns and rows of the table; call after time_bounds_step() returned true. */
void time_bounds_fill(const struct time_bounds *bounds, const struct table_view *view,
                      struct result_table *table);
void time_bounds_free(struct time_bounds *bounds); /* frees the memory; it is empty then */

#endif
