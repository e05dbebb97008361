/* What the files that build a scene share: scene.c, links.c, legend.c. */
#ifndef RENDER_BUILD_H
#define RENDER_BUILD_H

#include "render/scene.h"

#include <stdlib.h>

struct builder {
    struct scene *scene;
    const struct shown_window *window;
    const struct book *book;
    const struct scene_options *options;
    int32_t *row_of; /* line - 1 -> row, -1 not shown */
    uint32_t line_room;
    int32_t base;       /* column of index 0 */
};

/* Appends to an array that doubles. */
#define PUSH(array, count, value)                                                     \
    do {                                                                              \
        if (((count) & ((count) - 1)) == 0) {                                         \
            void *more_ = realloc((array), ((count) ? 2 * (size_t)(count) : 1) * sizeof *(array)); \
            if (!more_)                                                               \
                abort();                                                              \
            (array) = more_;                                                          \
        }                                                                             \
        (array)[(count)++] = (value);                                                 \
    } while (0)

double build_measure(const struct builder *b, const char *text, double size, bool bold);
int32_t build_row(const struct builder *b, uint32_t line); /* -1: not shown */
/* A line of words; its width. */
double build_note(struct builder *b, double x, double y, const char *text, double size, bool bold);
void build_links(struct builder *b);  /* marks must be sorted by row and x */
void build_legend(struct builder *b); /* sets the height */

#endif
