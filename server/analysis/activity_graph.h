/* The program activity graph: what would be if some steps took longer or shorter, and how much
 * later each could have been.
 *
 * Its nodes are the moments between intervals; an interval that ran weighs what it took, one that
 * waited nothing, the time until a thread that was let go went on what it took.  Edges lead from
 * one moment of a thread to its next, from every event to what of other threads came after it,
 * waited for or not, from all members of a group to where the last has come, and from makers to
 * their threads.  The earliest moment of a node is the longest way to it (with nothing changed: as
 * it was recorded, to the nanosecond); the latest is the one at which the whole takes no longer;
 * between the two is the slack (Hollingsworth and Miller 1994).  The order in which locks were
 * taken is kept, so with something changed it is what would be in that order, and not a promise.
 *
 * Where it is asked for, an interval that ran weighs what it ran and was in the system, and not
 * what it could have run and had no processor: the minimum-time graph; so does the time until a
 * thread that was made began, where the kernel's switches are known.  All edges are kept.
 *
 * It is of the intervals as they were when it was made; they may grow meanwhile.  About 20 bytes an
 * interval and 40 an edge. */
#ifndef SERVER_ANALYSIS_ACTIVITY_GRAPH_H
#define SERVER_ANALYSIS_ACTIVITY_GRAPH_H

#include "server/timing/cpu_states.h"

struct activity_graph;

#define GRAPH_WHOLE 1000000 /* millionths */

struct graph_change {
    const uint32_t *factors; /* by step - 1: millionths of what it took; NULL: all as they were */
    uint32_t factor_count; /* steps beyond them are as they were */
    bool no_latency; /* who is let go goes on at once */
    const struct cpu_states
        *spans; /* who could run and had no processor has one; NULL: as it was */
    uint32_t free_line; /* nobody waits for this one, and it orders nothing; 0 none */
};

struct activity_graph *activity_graph_new(const struct intervals *all);
void activity_graph_free(struct activity_graph *graph);
/* Before any pass: it is of what leads to a moment of a thread (its index), and ends with that.
 * Where nothing is known of that moment it stays whole. */
void activity_graph_until(struct activity_graph *graph, uint32_t thread, int64_t at_ns);
/* Looks up where all edges begin; true when that is done, about `budget` of them a step. */
bool graph_prepare_step(struct activity_graph *graph, uint64_t budget);

/* Then, as often as one likes: */
void activity_graph_forward(struct activity_graph *graph, struct graph_change change);
bool activity_graph_forward_step(struct activity_graph *graph, uint64_t budget);
/* How long all of it takes then: from the first thread's start to the latest end, or the moment
 * that it is until. */
int64_t activity_graph_length(const struct activity_graph *graph);

/* After a forward pass with nothing changed: */
void activity_graph_backward(struct activity_graph *graph);
bool activity_graph_backward_step(struct activity_graph *graph, uint64_t budget);
/* In memory, about. */
size_t activity_graph_bytes(const struct activity_graph *graph);

/* How much longer the interval of a thread (index of both) could have taken, the others as they
 * were; INT64_MAX: it does not lead to the moment that the graph is until. */
int64_t activity_graph_slack(const struct activity_graph *graph, uint32_t thread, size_t interval);

/* So many of a thread's intervals are in it. */
size_t activity_graph_intervals(const struct activity_graph *graph, uint32_t thread);

/* Edges that were left out, as they would have closed a circle: events of one moment that the clock
 * cannot tell apart. */
uint64_t activity_graph_left_out(const struct activity_graph *graph);

#endif
