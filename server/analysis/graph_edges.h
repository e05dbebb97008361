/* Data structures of the program activity graph (activity_graph.h): for activity_graph.c, which
 * traverses it, and graph_edges.c, which finds its edges. */
#ifndef SERVER_ANALYSIS_GRAPH_EDGES_H
#define SERVER_ANALYSIS_GRAPH_EDGES_H

#include "base/map.h"
#include "server/analysis/activity_graph.h"

/* An edge from a node of another chain: it ends at that node's time plus `after`. */
struct graph_edge {
    uint32_t chain, node; /* the node's number in that chain */
    int64_t after;
    uint32_t into, about; /* node of this chain; trace line, 0 for none */
    bool latency; /* `after` is the time from the creation of the thread until it started */
};

/* The nodes of a thread, or the single node of a group. */
struct graph_chain {
    bool group;
    struct graph_edge *edges; /* by `into` */
    size_t edge_count, edge_room;
    uint64_t first; /* index of its first node */
    uint32_t count; /* of its nodes */
    /* State of a pass: */
    uint32_t done;
    size_t edge;
    bool open; /* its next node waits for nodes of other chains */
    bool made; /* an edge from its creator says when it starts */
};

struct activity_graph {
    const struct intervals *all;
    struct graph_chain *chains;
    uint32_t chain_count, thread_count; /* the chains of threads come first */
    size_t chain_room;
    size_t *hints; /* by thread: index where its last outgoing edge began */
    struct map group_of;
    uint64_t nodes;
    /* State of the preparation: */
    uint32_t thread, numbered;
    struct
        /* sources of the next edges of the thread, in the order of its nodes */
        graph_sources {
        size_t tie, item, gathering;
        size_t near; /* the node at which the edge ends */
        bool begun;
    } sources;
    /* State of a pass: */
    uint64_t filled; /* nodes that were computed since the last check */
    struct graph_change change;
    int64_t *early, *late;
    /* by node: how long the thread had no CPU in the interval that begins there; below 0: not
     * looked up yet; may be NULL */
    int64_t *ready;
    struct cpu_state_walk *walks; /* by thread: where the last one was looked up */
    uint32_t *stack;
    size_t stacked, stack_room;
    uint32_t root;
    struct graph_stretch { /* nodes in the order in which they were completed */
        uint32_t chain, begin, end;
    } *stretches;
    size_t stretch_count, stretch_room, at;
    uint64_t left_out;
    int64_t begin_ns, end_ns;
    struct until { /* the graph ends at `part` after the begin of an interval of a thread */
        bool is;
        uint32_t thread, interval;
        int64_t part;
    } until;
};

/* Appends a chain. */
struct graph_chain *graph_edges_chain(struct activity_graph *graph, bool group, uint32_t count);

#endif
