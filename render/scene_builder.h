/* The builder of a scene: its state while it is built, the sizes of texts, and slots for marks of
 * one column. */
#ifndef RENDER_SCENE_BUILDER_H
#define RENDER_SCENE_BUILDER_H

#include "render/scene.h"
#include "wire/layout_results.h"

struct builder {
    struct scene *scene;
    const struct window_info *window;
    const struct trace_metadata *book;
    const struct scene_options *options;
    int32_t *row_of; /* line - 1 -> row; -1: not shown */
    uint32_t line_room;
    const struct scene_mark **by_event; /* all marks, while links are built */
    int32_t base;       /* column of index 0 */
    struct
        /* by column of the scene, if it is placed by time; NULL: columns are counted from base */
        builder_cell {
        int32_t column;
        uint32_t cells; /* number of empty columns of the window in it */
        int64_t time_ns; /* time of its first event */
    } *cells;
    const char *footnotes[9]; /* texts below the diagram, by number */
    uint32_t footnote_count;
    bool measuring; /* lines are only measured */
    double need_pt; /* and what is at their ends needs this much */
};

struct extent { /* the space that a column needs */
    double left, right;
    uint32_t slots;
};

struct laid_out_event { /* an event, possibly pending, with its column index */
    const struct event_info *event;
    uint32_t column, row;
    uint32_t slot;
    char *words; /* NULL: none */
    char *stub; /* where its arrow leads, if that is not shown; NULL: none */
    bool waits, is_last;
};

/* Returns the width of a text in points: an estimate if the options have no function that measures
 * it. */
double scene_builder_text_width(const struct builder *b, const char *text, double size, bool bold);
/* Returns a copy of the text, cut to fit with an ellipsis. */
char *scene_builder_fit_text(const struct builder *b, const char *text, double size, double limit);
int32_t scene_builder_row(const struct builder *b, uint32_t line); /* -1: not shown */

/* ---- scene arrows ---- */

void scene_arrows_build(struct builder *b); /* marks must be sorted by row and x */

/* ---- scene segments ---- */

/* Marks are sorted by row and x. Rows of threads of a kind that requests it show where the thread
 * is while it is on another line. */
void scene_segments_build(struct builder *b);
/* Returns whether the row of this thread shows what it waits for elsewhere. */
bool scene_segments_shows_text(const struct builder *b, uint32_t thread);

/* Layout of the columns of a scene: their widths, and the slots side by side within one.
 *
 * The marks of one column are concurrent or simultaneous, so they may be side by side. A
 * synchronization point with marks on several rows takes the rows between them for its arrow;
 * points with overlapping rows get different slots, so that no arrow passes over a mark or runs
 * along another. Slots depend on nothing outside the column: scrolling does not change them. */

struct slot_point {
    uint32_t column;
    uint32_t first_row, last_row;
    uint32_t slot; /* the result, from 0 */
};

/* Sets what a break left of each column cuts, once all of the scene is placed. */
void scene_columns_weigh_breaks(struct builder *b);

#define SLOTS_MAX 12 /* further points overlap */

/* Sorts the points by column and first row and assigns slots, first fit. */
void scene_columns_assign_slots(struct slot_point *points, uint32_t count);
/* Sorts the marks by column and row and assigns slots. */
void scene_columns_build_slots(struct laid_out_event *marks, uint32_t count,
                               struct extent *extents);

#endif
