/* What a graph consists of (activity_graph.h).  For activity_graph.c, which goes through it, and
 * graph_edges.c, which finds its edges. */
#ifndef SERVER_ANALYSIS_GRAPH_EDGES_H
#define SERVER_ANALYSIS_GRAPH_EDGES_H

#include "base/map.h"
#include "server/analysis/activity_graph.h"

/* From another chain's node: its moment, or so long after it. */
struct graph_edge {
    uint32_t chain, node; /* the node's number in that chain */
    int64_t after;
    uint32_t into, about; /* node of this chain; a line, 0 none */
    bool latency; /* `after` is until a thread that was made began */
};

/* The nodes of a thread, or the one of a group. */
struct graph_chain {
    bool group;
    struct graph_edge *edges; /* by `into` */
    size_t edge_count, edge_room;
    uint64_t first; /* index of its first node */
    uint32_t count; /* of its nodes */
    /* of a pass: */
    uint32_t done;
    size_t edge;
    bool open; /* it waits for others to get on */
    bool made; /* an edge from its maker says when it starts */
};

struct activity_graph {
    const struct intervals *all;
    struct graph_chain *chains;
    uint32_t chain_count, thread_count; /* the chains of threads come first */
    size_t chain_room, hints_room;
    size_t *hints; /* by thread: where the last edge from it began */
    struct map group_of;
    uint64_t nodes;
    /* preparing: */
    uint32_t thread, numbered;
    struct
        /* of its thread: what the next edges come from, in the order of its nodes */
        graph_sources {
        size_t tie, item, gathering;
        size_t near; /* the node that the tie is into */
        bool begun;
    } sources;
    /* a pass: */
    uint64_t filled; /* of late */
    struct graph_change change;
    int64_t *early, *late;
    /* by node: how long the interval from there had no processor; below 0: not looked up; NULL */
    int64_t *ready;
    uint32_t *stack;
    size_t stacked, stack_room;
    uint32_t root;
    struct graph_stretch { /* nodes in the order in which they were done */
        uint32_t chain, begin, end;
    } *stretches;
    size_t stretch_count, stretch_room, at;
    uint64_t left_out;
    int64_t begin_ns, end_ns;
    struct until { /* all counts until so long after the begin of a thread's interval */
        bool is;
        uint32_t thread, interval;
        int64_t part;
    } until;
};

struct graph_chain *graph_edges_chain(struct activity_graph *graph, bool group,
                                      uint32_t count); /* a new one */

#endif
