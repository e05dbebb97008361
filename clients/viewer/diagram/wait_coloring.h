/* Waits tinted by class, on the rows of those who waited: meetings, exclusion, the clock, and what
 * nothing explains. */
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
/* Fills the path, over the ground. */
void wait_coloring_fill_class(cairo_t *cr, unsigned class, const struct paint_theme *theme);
/* What the tints stand for, from there to the right; returns where it ends. */
double wait_coloring_draw_key(cairo_t *cr, double x_px, double y_px,
                              const struct paint_theme *theme);
void wait_coloring_draw(struct view *view, cairo_t *cr, int width, int height);
double wait_coloring_key_px(
    void); /* how wide the key is that stands at the right of a picture from near */
void wait_coloring_on_notification(struct view *view, enum notification news);
void wait_coloring_clear(struct view *view); /* another run */
void wait_coloring_print(
    struct view *view, FILE *f); /* "wait rendezvous 3 120 180", class, row, from, to; for tests */

#endif
