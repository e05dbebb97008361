/* Who calls whom: functions, and arcs with how often; what is put into it is its own.
 * Zero-initialised: nobody. */
#ifndef CLIENTS_METADATA_CALL_GRAPH_H
#define CLIENTS_METADATA_CALL_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#define CALL_GRAPH_NODES_MAX 60u /* functions that can be told apart in one picture */

struct call_graph {
    struct call_graph_node {
        char *name, *amount; /* in full; what it took */
        double share; /* of all, 0 to 1: what it took itself */
        uint32_t cycle; /* of functions that call each other in a circle; 0: none */
        uint32_t row; /* of the table */
        bool waited;
    } *nodes;
    uint32_t count; /* at most CALL_GRAPH_NODES_MAX */
    struct call_graph_arc {
        uint32_t from, to;
        char *calls; /* how often */
        double share; /* of all: what these calls took */
    } *arcs;
    uint32_t arc_count;
    char **notes;
    uint32_t note_count;
};

void call_graph_free(struct call_graph *graph); /* empties it */

#endif
