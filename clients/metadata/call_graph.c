#include "clients/metadata/call_graph.h"

#include <stdlib.h>

void call_graph_free(struct call_graph *g)
{
    for (uint32_t i = 0; i < g->count; i++) {
        free(g->nodes[i].name);
        free(g->nodes[i].amount);
    }
    for (uint32_t i = 0; i < g->arc_count; i++)
        free(g->arcs[i].calls);
    for (uint32_t i = 0; i < g->note_count; i++)
        free(g->notes[i]);
    free(g->nodes);
    free(g->arcs);
    free(g->notes);
    *g = (struct call_graph){0};
}
