/* The list of the runs of a server. */
#ifndef CLIENTS_VIEW_RUNS_H
#define CLIENTS_VIEW_RUNS_H

#include <gtk/gtk.h>

struct view;

GtkWidget *runs_new(struct view *view);
void runs_ask(struct view *view); /* which ones there are */

#endif
