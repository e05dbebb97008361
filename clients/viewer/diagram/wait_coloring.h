/* Waits tinted by class, on the rows of the waiting threads: rendezvous, contention, timeout, and
 * unattributed. */
#ifndef CLIENTS_VIEWER_DIAGRAM_WAIT_COLORING_H
#define CLIENTS_VIEWER_DIAGRAM_WAIT_COLORING_H

#include "clients/viewer/state/notifications.h"

#include "render/scene_paint.h"

#include <cairo.h>
#include <stdio.h>

struct view;

/* Classes, in their order: rendezvous, contention, timeout, unattributed. */
#define WAIT_COLORING_CLASSES 4u
const char *wait_coloring_class_name(unsigned class); /* "rendezvous" */
/* Fills the path, over the background. */
void wait_coloring_fill_class(cairo_t *cr, unsigned class, const struct paint_theme *theme);
/* Paints the key of the tints to the right; returns where it ends. */
double wait_coloring_draw_key(cairo_t *cr, double x_px, double y_px,
                              const struct paint_theme *theme);
void wait_coloring_draw(struct view *view, cairo_t *cr, int width, int height);
double wait_coloring_key_px(void); /* width of the key at the right of the diagram */
void wait_coloring_on_notification(struct view *view, enum notification what);
void wait_coloring_clear(struct view *view); /* another run */
void wait_coloring_print(
    struct view *view, FILE *f); /* "wait rendezvous 3 120 180": class, row, from, to; for tests */

#endif
