/* A curve of figures over time above a table of the drawer, below the picture: where that is placed by time, on its axis. */
#ifndef CLIENTS_VIEW_DRAWER_CURVE_H
#define CLIENTS_VIEW_DRAWER_CURVE_H

#include "clients/view/parts/news.h"
#include "wire/curve.h"

#include <gtk/gtk.h>
#include <stdio.h>

struct view;
struct curvebox;

/* name: of what it is, for assistive technologies; meter: which is drawn until another is chosen, "": the first. */
struct curvebox *curvebox_new(struct view *view, enum curve_group group, const char *name,
                              const char *meter);
GtkWidget *curvebox_widget(struct curvebox *box); /* owns it */
/* thread: its line; 0: the whole of the program, whose name is "" where it does not matter. */
void curvebox_choose(struct curvebox *box, const char *program, uint32_t thread, const char *meter);
void curvebox_take(struct curvebox *box, enum news news);
void curvebox_clear(struct curvebox *box); /* another run */
bool curvebox_busy(const struct curvebox *box); /* is it asked for, or about to be? */
void curvebox_print(struct curvebox *box, FILE *f); /* what is drawn, a line each; for tests */

#endif
