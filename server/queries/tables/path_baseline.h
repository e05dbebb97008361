/* What a table of the critical path begins with: the path, the graph, and what it is with nothing
 * changed.
 *
 * Once it is whole it is kept with the run, unless it is large, so that what would be with a step
 * changed is one pass more and not all of it again. */
#ifndef SERVER_QUERIES_TABLES_PATH_BASELINE_H
#define SERVER_QUERIES_TABLES_PATH_BASELINE_H

#include "server/queries/tables/step_totals.h"
#include "server/analysis/activity_graph.h"
#include "server/analysis/critical_path.h"

struct path_baseline {
    struct critical_path path;
    struct activity_graph *graph;
    struct step_totals sums;
    int64_t whole_ns, span_ns; /* as it was; with nobody going on late */
    uint32_t until; /* 1 + index of the thread at whose moment it ends; 0: with the run */
    int64_t until_ns;
    bool whole; /* all of it is there */
    bool followed; /* the path is there, and nothing else */
    struct basis_of { /* what it is of */
        uint64_t again, known;
        int64_t from_ns, to_ns;
        struct event_id at;
    } of;
};

/* The one that is kept, if it is of the same, else an empty one: the caller's, who gives it
 * back. */
struct path_baseline *path_baseline_acquire(const struct table_view *view, struct event_id at);
void path_baseline_release(const struct run *run, struct path_baseline *basis);

/* How long the path is within the range. */
int64_t path_baseline_length(const struct path_baseline *basis);

#endif
