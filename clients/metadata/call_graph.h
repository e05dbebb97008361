/* A call graph: functions, and arcs with call counts. It owns its texts
 * (table_to_callgraph.h makes and frees it). A zeroed one is empty. */
#ifndef CLIENTS_METADATA_CALL_GRAPH_H
#define CLIENTS_METADATA_CALL_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

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
