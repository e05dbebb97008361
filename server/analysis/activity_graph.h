/* Program activity graph of a run: computes how long the run would take if some code segments took
 * longer or shorter, and the slack of each interval.
 *
 * The nodes are the moments between intervals.  An interval in which a thread ran weighs its
 * duration, a wait weighs nothing, and a wake-up latency weighs its duration.  Edges lead from each
 * moment of a thread to its next one, from every event to the events of other threads that come
 * after it (whether these waited or not), from all members of a group to the moment when the last
 * of them arrives, and from a creating thread to the thread that it creates.  The earliest time of
 * a node is the longest path to it; with nothing changed that is the recorded time, to the
 * nanosecond.  The latest time is the last one that does not make the whole run longer.  The slack
 * is the difference of both (Hollingsworth and Miller 1994).  The order in which locks were
 * acquired is kept, so a changed graph says what would be in that order; it is not a promise.
 *
 * On request (graph_change.spans) an interval in which a thread ran weighs only the time in which
 * it was running or off-CPU (other), without the time in which it was runnable and had no CPU: the
 * minimum-time graph.  The time from the creation of a thread until it started is treated alike if
 * the kernel's context switches are known.  All edges are kept.
 *
 * The graph describes the intervals as they were when it was made; they may grow meanwhile.  It
 * takes about 20 bytes per interval and 40 per edge. */
#ifndef SERVER_ANALYSIS_ACTIVITY_GRAPH_H
#define SERVER_ANALYSIS_ACTIVITY_GRAPH_H

#include "server/timing/cpu_states.h"

struct activity_graph;

#define GRAPH_WHOLE 1000000 /* millionths */

struct graph_change {
    /* by code segment - 1: millionths of its duration; NULL: nothing is changed */
    const uint32_t *factors;
    uint32_t factor_count; /* code segments beyond them are unchanged */
    bool no_latency; /* no wake-up latency: an unblocked thread resumes at once */
    const struct cpu_states *spans; /* a runnable thread always has a CPU; NULL: as it was */
    uint32_t free_line; /* trace line that no thread waits for and that orders nothing; 0: none */
};

struct activity_graph *activity_graph_new(const struct intervals *all);
void activity_graph_free(struct activity_graph *graph);
/* Restricts the graph to what leads to a moment of a thread (by index); the graph ends at that
 * moment.  Must be called before any pass.  Does nothing if nothing is known of that moment. */
void activity_graph_until(struct activity_graph *graph, uint32_t thread, int64_t at_ns);
/* Finds where all edges begin, about `budget` edges per call.  Returns true when that is done. */
bool graph_prepare_step(struct activity_graph *graph, uint64_t budget);

/* After graph_prepare_step() returned true; may be repeated: */
void activity_graph_forward(struct activity_graph *graph, struct graph_change change);
bool activity_graph_forward_step(struct activity_graph *graph, uint64_t budget);
/* Returns the length that the last forward pass computed: from the first thread's start to the
 * latest end, or to the moment of activity_graph_until(). */
int64_t activity_graph_length(const struct activity_graph *graph);

/* After a forward pass with nothing changed: */
void activity_graph_backward(struct activity_graph *graph);
bool activity_graph_backward_step(struct activity_graph *graph, uint64_t budget);
/* Returns the approximate size in memory. */
size_t activity_graph_bytes(const struct activity_graph *graph);

/* Returns how much longer the interval of a thread (both by index) could have taken with all others
 * unchanged; INT64_MAX if it does not lead to the moment at which the graph ends. */
int64_t activity_graph_slack(const struct activity_graph *graph, uint32_t thread, size_t interval);

/* Returns how many intervals of a thread are in the graph. */
size_t activity_graph_intervals(const struct activity_graph *graph, uint32_t thread);

/* Returns the number of edges that were left out because they would have closed a cycle: events at
 * one time that the clock cannot tell apart. */
uint64_t activity_graph_left_out(const struct activity_graph *graph);

#endif
