/* The critical path as one thick line over the picture: along the rows of its threads, and from row to row where one let
 * another go on. */
#ifndef CLIENTS_VIEW_PICTURE_THICK_H
#define CLIENTS_VIEW_PICTURE_THICK_H

#include "clients/view/parts/news.h"
#include "wire/cell.h"

#include <cairo.h>
#include <stdio.h>

struct view;

/* Sets it; opaque: 0 to 1. */
void thick_colour(struct view *view, cairo_t *cr, double opaque);
void thick_draw(struct view *view, cairo_t *cr, int width, int height);
double thick_key_px(void); /* how wide the key is */
void thick_take(struct view *view, enum news news);
bool thick_busy(struct view *view); /* is what is seen of it not here yet? */
void thick_clear(struct view *view); /* another run */
/* The events with which pieces end that are this step of the path are marked, once they are known. */
void thick_mark(struct view *view, const struct table_cell *step);
void thick_print(struct view *view, FILE *f); /* pieces and hops that are drawn; for tests */

#endif
