/* The painter of a scene: target, theme and visible area while it is painted, and what all painting
 * functions use. */
#ifndef RENDER_PAINTER_H
#define RENDER_PAINTER_H

#include "render/scene.h"
#include "render/scene_paint.h"

#include <cairo.h>
#include <stdbool.h>
#include <stddef.h>

#define HALF (SCENE_MARK_PT / 2) /* half the size of a mark */

struct painter {
    cairo_t *cr;
    const struct scene *scene;
    const struct paint_theme *theme;
    const struct paint_part *part;
    double from, to; /* visible x range of the scene, */
    double above, below; /* and y range */
    double alpha; /* below 1: what is drawn now is dimmed */
    /* batch of the shapes that are drawn now; NULL: each is painted immediately */
    struct batched_paths *batch;
};

#define PAINTER_RED ((struct target_color){0.75, 0, 0.1})
#define PAINTER_AMBER ((struct target_color){0.9, 0.62, 0})
#define PAINTER_VIOLET ((struct target_color){0.6, 0.2, 0.6})

/* Sets the color, adapted to the theme. */
void painter_color(const struct painter *painter, struct target_color color);
void painter_background(const struct painter *painter);
/* x, y: left top corner, in points of the scene. The text is upright, whatever the orientation of
 * the scene. */
void painter_text(const struct painter *painter, double x, double y, const char *text, double size,
                  bool bold);
bool painter_sees_row(const struct painter *painter, uint32_t row);

/* Batched shapes and lines: one path for all shapes of one color and size, which makes a vector
 * file many times faster to write and to read than a path for each shape.
 *
 * Larger shapes are below smaller ones, arrow heads above lines; otherwise the stacking order is
 * unspecified. */

/* A zeroed one is empty. */
struct batched_paths {
    struct batch_item *items;
    size_t count, room;
};

/* Each adds a shape in the current source color of `cr`. */
void batched_paths_circle(struct batched_paths *batch, cairo_t *cr, double x, double y,
                          double radius);
void batched_paths_square(struct batched_paths *batch, cairo_t *cr, double x, double y,
                          double half);
void batched_paths_line(struct batched_paths *batch, cairo_t *cr, double x0, double y0, double x1,
                        double y1, double width, double dash, double pause); /* dash 0: solid */
/* A triangle with its tip at x, y, at the end of a line in the direction of the unit vector dx,
 * dy. */
void batched_paths_head(struct batched_paths *batch, cairo_t *cr, double x, double y, double dx,
                        double dy, double length);
/* Paints everything and empties the batch; changes the source, dashes, line width and cap of
 * `cr`. */
void batched_paths_paint(struct batched_paths *batch, cairo_t *cr);
void batched_paths_free(struct batched_paths *batch);

/* ---- mark symbols ---- */

/* ---- symbols ---- */

void mark_symbol_paint(const struct painter *painter, enum target_shape shape, bool filled,
                       struct target_color color, enum event_state state, double x, double y);
/* Strikes the symbol through: the event had no effect. */
void mark_symbol_strike(const struct painter *p, struct target_color color, double x, double y);
/* Paints a ring around the symbol; its radius is in points. */
void mark_symbol_ring(const struct painter *painter, const struct scene_mark *mark, double radius,
                      struct target_color color);

/* ---- highlights ---- */

/* Returns whether the mark is painted under this selection; NULL: nothing is highlighted. */
bool relation_marks_enabled(const struct paint_selection *selection, const struct scene_mark *mark);
/* Paints a mark with its highlights. The selection may be NULL. */
void relation_marks_mark(struct painter *painter, const struct scene_mark *mark,
                         const struct paint_selection *selection);
/* Paints a bar on the side of the event's relation, or on both sides if the relation is unknown. */
void relation_marks_side(const struct painter *painter, const struct scene_mark *mark);
/* Paints a broad band along the causal chain, through those of its events that have marks. */
void relation_marks_chain(const struct painter *painter, const struct paint_selection *selection);
/* Rings the events by which threads wait in a deadlock, and links each to the event by which the
 * object was acquired that it waits for. */
void relation_marks_stuck(struct painter *painter, const struct paint_selection *selection);

#endif
