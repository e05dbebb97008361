/* Baseline of the critical path tables: the path, the activity graph, and their values with nothing
 * changed, with the totals of each code segment on the path and in all.
 *
 * Once complete it is kept with the run, unless it is large, so that a what-if query costs one
 * more pass only.  Not thread-safe. */
#ifndef SERVER_QUERIES_TABLES_PATH_BASELINE_H
#define SERVER_QUERIES_TABLES_PATH_BASELINE_H

#include "server/analysis/activity_graph.h"
#include "server/analysis/critical_path.h"
#include "server/queries/tables/table_query.h"

/* ---- totals of code segments ---- */

struct step_total {
    uint32_t step; /* 0: time without a code segment, see `is` */
    uint32_t thread; /* thread of the longest piece on the path */
    uint64_t longest; /* position of the event at the end of that piece */
    int64_t longest_ns;
    int64_t path_ns, total_ns; /* on the path; of all threads */
    int64_t slack_ns; /* minimum over its intervals; INT64_MAX: unknown */
    int64_t zero_ns; /* what-if gain at 0 ns; valid with has_zero */
    uint8_t is; /* an enum path_piece_kind */
    bool has_zero;
};

struct step_totals {
    /* Sorted by time on the path, then by total time, the largest first. */
    struct step_total *items;
    uint32_t count;
    size_t room;
    uint32_t *index; /* by code segment - 1: 1 + index */
    uint32_t steps, of; /* number of code segments and of threads when it began */
    int64_t *threads; /* by thread index: running time */
    int64_t runs_ns; /* running time of all threads, by the order */
    int64_t work_ns; /* the same without the time in which they were runnable and had no CPU */
    uint32_t living; /* number of threads in the graph with intervals */
    /* where the next step continues: */
    uint32_t thread;
    size_t piece, item;
    int64_t until_ns; /* end of what counts of the thread */
    struct cpu_state_walk walk; /* CPU states of the thread */
};

/* Processes the path and the intervals in the graph, about `budget` of them; returns true when all
 * are processed. */
bool step_totals_compute(struct step_totals *sums, const struct table_view *view,
                         const struct critical_path *path, const struct activity_graph *graph,
                         uint64_t budget);
/* Does the same for slack, after the backward pass. */
bool step_totals_add_slack(struct step_totals *sums, const struct table_view *view,
                           const struct activity_graph *graph, uint64_t budget);
/* Returns how much longer it was on the path than its mean time per thread (Boehme and others
 * 2012). */
int64_t step_totals_imbalance(const struct step_totals *sums, const struct step_total *sum);

/* Returns "runs", "wake-up latency", ... */
const char *path_category_name(enum path_piece_kind is);

/* ---- baseline ---- */

struct path_baseline {
    struct critical_path path;
    struct activity_graph *graph;
    struct step_totals sums;
    int64_t whole_ns, span_ns; /* measured length; length without wake-up latencies */
    /* 1 + index of the thread with the event at which it ends; 0: at the end of the run */
    uint32_t until;
    int64_t until_ns;
    bool whole; /* everything is computed */
    bool followed; /* only the path is computed */
    struct basis_of { /* key: the request that it was computed for */
        uint64_t again, known;
        int64_t from_ns, to_ns;
        struct event_id at;
    } of;
};

/* Returns the event at which the path ends, that of --past-of or --to; line 0: there is none. */
struct event_id path_baseline_target(const struct table_view *view);
/* Begins the path that ends at an event, else with the last end of any thread.  Returns whether the
 * thread of the event is known. */
bool path_baseline_begin_path(struct critical_path *path, const struct table_view *view,
                              struct event_id at);
/* Returns the kept baseline if it has the same key, else an empty one.  The caller owns it until
 * path_baseline_release(). */
struct path_baseline *path_baseline_acquire(const struct table_view *view, struct event_id at);
void path_baseline_release(const struct run *run, struct path_baseline *basis);

/* Returns the length of the path within the range. */
int64_t path_baseline_length(const struct path_baseline *basis);

#endif
