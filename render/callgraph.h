/* Who calls whom, as boxes and arrows with counts: callers above, circles closed by dashed arrows that lead up. */
#ifndef RENDER_CALLGRAPH_H
#define RENDER_CALLGRAPH_H

#include "render/page.h"

#include <stdbool.h>
#include <stdint.h>

#define CALLGRAPH_MOST 60u /* boxes that can be told apart in one picture */

/* Texts belong to the caller. */
struct callgraph {
    const char *title;
    struct callgraph_node {
        char *name, *amount; /* below the name */
        double share; /* of all, 0 to 1: what it took itself, which it is tinted by */
        uint32_t cycle; /* of functions that call each other in a circle; 0: none */
        bool waited;
    } *nodes;
    uint32_t count; /* at most CALLGRAPH_MOST */
    struct callgraph_arc {
        uint32_t from, to;
        char *calls;
        double share; /* of all, which it is as thick as */
    } *arcs;
    uint32_t arc_count;
    char **notes;
    uint32_t note_count;
};

/* As a picture; NULL, or what went wrong. */
const char *callgraph_write(const struct callgraph *graph, const struct page_options *options,
                            const char *path);

#endif
