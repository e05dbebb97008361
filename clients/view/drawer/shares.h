/* From far away what threads did stands below the strips: a band for each of their rows that is of threads, of the same
 * pixels, each filled by states as high as their shares. */
#ifndef CLIENTS_VIEW_DRAWER_SHARES_H
#define CLIENTS_VIEW_DRAWER_SHARES_H

#include "clients/view/parts/news.h"

#include <gtk/gtk.h>
#include <stdio.h>

struct view;

bool shares_wanted(const struct view *view); /* is the picture one of strips? */
GtkWidget *shares_widget(struct view *view);
void shares_take(struct view *view, enum news news);
void shares_draw(struct view *view, cairo_t *cr, int width_px);
/* "row 3 T:main start 0.0 ready 0.1 ...": pixels by state, as bands.h has them; for tests. */
void shares_print(struct view *view, FILE *f);

#endif
