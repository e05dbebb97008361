/* What each step took, on the critical path and in all: for the table of the path. */
#ifndef SERVER_QUERIES_TABLES_STEP_TOTALS_H
#define SERVER_QUERIES_TABLES_STEP_TOTALS_H

#include "server/queries/tables/table_query.h"
#include "server/analysis/activity_graph.h"
#include "server/analysis/critical_path.h"

struct step_total {
    uint32_t step;    /* 0: what has no step, see `is` */
    uint32_t thread;  /* of the longest piece on the path */
    uint64_t longest; /* position of the event at that one's end */
    int64_t longest_ns;
    int64_t path_ns, total_ns; /* of all threads */
    int64_t slack_ns;          /* the least of its intervals; INT64_MAX: not known */
    int64_t zero_ns;           /* what would be won if it took nothing, with has_zero */
    uint8_t is;                /* an enum path_piece_kind */
    bool has_zero;
};

struct step_totals {
    struct step_total *items; /* what is most on the path first, then what took longest */
    uint32_t count;
    size_t room;
    uint32_t *index;   /* by step - 1: 1 + index */
    uint32_t steps, of; /* so many steps and threads there were then */
    int64_t *threads;  /* by thread: what it ran */
    int64_t runs_ns;   /* what all of them ran, as far as the order tells */
    int64_t work_ns; /* the same without the times in which they could run and had no processor */
    uint32_t living; /* threads that did anything */
    /* where it goes on: */
    uint32_t thread;
    size_t piece, item;
    int64_t until_ns; /* of the thread */
    struct cpu_state_walk walk; /* likewise */
};

/* Of the path and of the intervals that are in the graph, in steps of about so many of them; true
 * when all is there. */
bool step_totals_compute(struct step_totals *sums, const struct table_view *view,
                         const struct critical_path *path, const struct activity_graph *graph,
                         uint64_t budget);
/* After the backward pass, likewise. */
bool step_totals_add_slack(struct step_totals *sums, const struct table_view *view,
                           const struct activity_graph *graph, uint64_t budget);
/* How much longer it was on the path than it took a thread on the average (Boehme and others
 * 2012). */
int64_t step_totals_imbalance(const struct step_totals *sums, const struct step_total *sum);
void step_totals_free(struct step_totals *sums);

/* "runs", "wake-up latency", ... */
const char *path_category_name(enum path_piece_kind is);

#endif
