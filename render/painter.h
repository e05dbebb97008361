/* What is painted on, and with what, while a scene is painted; and what all that paints needs. */
#ifndef RENDER_PAINTER_H
#define RENDER_PAINTER_H

#include "render/scene_paint.h"
#include "render/scene.h"

#include <cairo.h>

#define HALF (SCENE_MARK_PT / 2) /* of a mark */

struct painter {
    cairo_t *cr;
    const struct scene *scene;
    const struct paint_theme *theme;
    const struct paint_part *part;
    double from, to; /* x of the scene that is seen, */
    double above, below; /*   and y */
    double alpha;    /* below 1: what is drawn now steps back */
    struct batched_paths
        *batch; /* of the shapes that are drawn now, or NULL: each is painted at once */
};

#define PAINTER_RED ((struct target_color){0.75, 0, 0.1})
#define PAINTER_AMBER ((struct target_color){0.9, 0.62, 0})
#define PAINTER_VIOLET ((struct target_color){0.6, 0.2, 0.6})

/* As the theme wants it. */
void painter_color(const struct painter *painter, struct target_color colour);
void painter_background(const struct painter *painter);
/* x, y: of its left top, in points of the scene.  Upright, whichever way the scene is drawn. */
void painter_text(const struct painter *painter, double x, double y, const char *text, double size,
                  bool bold);
bool painter_sees_row(const struct painter *painter, uint32_t row);

#endif
