/* Waits tinted by class, on the rows of those who waited: meetings, exclusion, the clock, and what nothing explains. */
#ifndef CLIENTS_VIEW_PICTURE_TINT_H
#define CLIENTS_VIEW_PICTURE_TINT_H

#include "clients/view/parts/news.h"

#include <cairo.h>
#include <stdio.h>

struct view;

void tint_draw(struct view *view, cairo_t *cr, int width, int height);
void tint_take(struct view *view, enum news news);
void tint_clear(struct view *view); /* another run */
void tint_print(struct view *view,
                FILE *f); /* "wait meeting 3 120 180", class, row, from, to; for tests */

#endif
