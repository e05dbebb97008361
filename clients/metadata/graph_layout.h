/* Layered layout of a call graph: each node is below its callers, except for arcs that close a
 * cycle (Sugiyama, Tagawa and Toda, 1981).
 *
 * An arc that spans several layers has a bend in each layer between, so that it leads around the
 * nodes there. The caller sets the widths of nodes and the ends of arcs; graph_layout_place sets
 * everything else. The layout is deterministic. Units are the caller's. */
#ifndef CLIENTS_METADATA_GRAPH_LAYOUT_H
#define CLIENTS_METADATA_GRAPH_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#define GRAPH_LAYOUT_NODES_MAX 200u

struct graph_layout {
    struct graph_layout_node { /* the caller's, then the bends */
        double width;
        double x; /* of its middle, from the left edge */
        uint32_t layer; /* 0 is the topmost */
        uint32_t place; /* in its layer */
    } *nodes;
    uint32_t count;
    struct graph_layout_arc {
        uint32_t from, to;
        bool back; /* it closes a cycle, or leads to its own begin: it has no bends */
        uint32_t bend, bends; /* nodes, one below the other */
    } *arcs;
    uint32_t arc_count;
    uint32_t layer_count;
    double width;
};

/* gap: between two nodes in a layer */
void graph_layout_place(struct graph_layout *layers, double gap);
void graph_layout_free(struct graph_layout *layers); /* leaves it empty */

/* ---- call graph ---- */

#define CALL_GRAPH_NODES_MAX 60u /* maximum of functions in one drawing */

struct call_graph {
    struct call_graph_node {
        char *name, *amount; /* full name; its time as text */
        double share; /* of everything, 0 to 1: its own time */
        uint32_t cycle; /* number of its recursion cycle; 0: none */
        uint32_t row; /* of the table */
        bool waited;
    } *nodes;
    uint32_t count; /* at most CALL_GRAPH_NODES_MAX */
    struct call_graph_arc {
        uint32_t from, to;
        char *calls; /* number of calls, as text */
        double share; /* of everything: the time of these calls */
    } *arcs;
    uint32_t arc_count;
    char **notes;
    uint32_t note_count;
};

#endif
