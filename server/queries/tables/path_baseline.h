/* Baseline of the critical path tables: the path, the activity graph, and their values with nothing
 * changed.
 *
 * Once complete it is kept with the run, unless it is large, so that a what-if query costs one
 * more pass only. */
#ifndef SERVER_QUERIES_TABLES_PATH_BASELINE_H
#define SERVER_QUERIES_TABLES_PATH_BASELINE_H

#include "server/queries/tables/step_totals.h"
#include "server/analysis/activity_graph.h"
#include "server/analysis/critical_path.h"

struct path_baseline {
    struct critical_path path;
    struct activity_graph *graph;
    struct step_totals sums;
    int64_t whole_ns, span_ns; /* measured length; length without wake-up latencies */
    uint32_t until; /* 1 + index of the thread at whose event it ends; 0: at the end of the run */
    int64_t until_ns;
    bool whole; /* everything is computed */
    bool followed; /* only the path is computed */
    struct basis_of { /* key: the request that it was computed for */
        uint64_t again, known;
        int64_t from_ns, to_ns;
        struct event_id at;
    } of;
};

/* Returns the kept baseline if it has the same key, else an empty one.  The caller owns it until
 * path_baseline_release(). */
struct path_baseline *path_baseline_acquire(const struct table_view *view, struct event_id at);
void path_baseline_release(const struct run *run, struct path_baseline *basis);

/* Returns the length of the path within the range. */
int64_t path_baseline_length(const struct path_baseline *basis);

#endif
