/* What the files that build a scene share: scene.c, columns.c, links.c, legend.c. */
#ifndef RENDER_BUILDER_H
#define RENDER_BUILDER_H

#include "memory/memory.h"
#include "render/scene.h"
#include "wire/placed.h"

struct builder {
    struct scene *scene;
    const struct shown_window *window;
    const struct book *book;
    const struct scene_options *options;
    int32_t *row_of; /* line - 1 -> row, -1 not shown */
    uint32_t line_room;
    int32_t base;       /* column of index 0 */
};

struct extent { /* what a column needs */
    double left, right;
    uint32_t slots;
    bool empty;
};

struct placed_mark { /* an event with its index of column, pending ones too */
    const struct shown_event *event;
    uint32_t column, row;
    uint32_t slot;
    char *words; /* NULL none */
    char *stub;  /* where its arrow leads, if that is not shown; NULL none */
    bool waits, is_last;
};

/* ---- measure.c ---- */

double build_measure(const struct builder *b, const char *text, double size, bool bold);
/* A copy of the text, cut to fit with an ellipsis. */
char *build_fit(const struct builder *b, const char *text, double size, double limit);
int32_t build_row(const struct builder *b, uint32_t line); /* -1: not shown */
/* A line of words; its width. */
double build_note(struct builder *b, double x, double y, const char *text, double size, bool bold);
/* Sorts the marks by column and row and gives each its slot. */
void build_slots(struct placed_mark *marks, uint32_t count, struct extent *extents);
void build_columns(struct builder *b, uint32_t count, const struct extent *extents);
void build_ruler(struct builder *b);
void build_links(struct builder *b);  /* marks must be sorted by row and x */
void build_end(struct builder *b);    /* legend and caption; sets the height */

#endif
