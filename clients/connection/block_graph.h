/* Control flow graph of the basic blocks that threads reached, by the edges that they took, and its
 * loops.
 *
 * Blocks that are connected are of one function. It begins in the first of its blocks by address
 * that was reached from none, to which no code of the function leads back. A loop is a natural loop
 * (Aho, Sethi and Ullman, Compilers, 1986): the blocks from which an edge leads back to a header,
 * through which all ways from the begin of the function to them lead. Loops of which no iteration
 * followed another one are not known to be any.
 *
 * Optimizers make nested loops with one header. The inner one is then known by the source lines:
 * the rest of the outer one leads back to a line above it, which the rest of a loop with `continue`
 * does not. */
#ifndef CLIENTS_CONNECTION_BLOCK_GRAPH_H
#define CLIENTS_CONNECTION_BLOCK_GRAPH_H

#include "base/map.h"
#include "wire/table_rows.h"

#define BLOCK_GRAPH_NONE UINT32_MAX

enum block_edge_kind {
    BLOCK_EDGE_ENTRY, /* the function begins */
    BLOCK_EDGE_UNKNOWN, /* from a block that is not known */
    BLOCK_EDGE_FLOW
};

struct block_graph_edge {
    uint32_t from, to; /* blocks; from: BLOCK_GRAPH_NONE if there is none */
    uint32_t line; /* thread; 0: all */
    enum block_edge_kind kind;
    int64_t count, recursive, self_ns, called_ns, overhead_ns;
    bool timed;
};

struct block_node {
    struct table_place place;
    char *function, *inlined; /* names: of the function, and of the innermost one at the place */
    char *file; /* its path */
    int line; /* source line; 0: unknown */
    uint32_t number, component, dominator, order; /* of block_graph.c */
    bool reached; /* from the begin of its function */
    /* its code is of one source line, so that it can be a test and nothing else; set by the caller
     * after block_graph_find_loops() */
    bool plain;
};

struct block_loop {
    uint32_t header;
    uint32_t *blocks, count; /* in ascending order */
    uint32_t depth; /* 1: in no other loop */
    uint32_t outer; /* the innermost loop around it; BLOCK_GRAPH_NONE: none */
    uint32_t
        inner; /* the largest loop in it that begins in the same block; BLOCK_GRAPH_NONE: none */
};

struct block_component { /* a function */
    uint32_t first, end; /* its blocks */
    uint32_t first_edge, end_edge; /* those to its blocks */
    uint32_t entry;
    uint32_t irreducible; /* edges back into loops that can be entered at several blocks */
};

/* A zero-initialized struct is empty. */
struct block_graph {
    struct block_node *nodes;
    struct block_graph_edge *edges;
    struct block_component *components;
    struct block_loop *loops; /* of a function in succession, by the address of the header */
    size_t node_count, node_room, edge_count, edge_room, component_count, component_room,
        loop_count, loop_room;
    struct map numbers; /* place -> 1 + number */
};

/* Counts and times of a loop. */
struct block_loop_sums {
    int64_t entries, iterations, back_edges;
    bool iterations_unknown; /* without source lines: whether the loop begins with its test */
    int64_t unknown; /* how often one of its blocks was reached from a block that is not known */
    int64_t self_ns, called_ns, overhead_ns;
    bool timed, recursive;
};

/* Returns the number of the block at a place, valid until block_graph_find_loops(); new ones have
 * no names. */
uint32_t block_graph_node(struct block_graph *g, struct table_place place);
void block_graph_add(struct block_graph *g, struct block_graph_edge edge);
/* Sorts blocks and edges by function, and finds the loops. */
void block_graph_find_loops(struct block_graph *g);
/* Sums a loop over one thread (line 0: all). An iteration is one that got past the test with which
 * a loop begins (while, for): its header, if that is plain and an edge leads out of the loop, and
 * plain blocks of the same source line that are reached from the test only. In other loops each
 * execution of the header is one. */
struct block_loop_sums block_graph_sum_loop(const struct block_graph *g,
                                            const struct block_loop *loop, uint32_t line);
bool block_loop_contains(const struct block_loop *loop, uint32_t block);
void block_graph_free(struct block_graph *g);

#endif
