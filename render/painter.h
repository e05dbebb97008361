/* The state while a scene is painted: target, theme and visible area; and helpers that all painting
 * functions use. */
#ifndef RENDER_PAINTER_H
#define RENDER_PAINTER_H

#include "render/scene_paint.h"
#include "render/scene.h"

#include <cairo.h>

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

#endif
