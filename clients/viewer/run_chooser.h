/* The list of runs of a server. */
#ifndef CLIENTS_VIEWER_RUN_CHOOSER_H
#define CLIENTS_VIEWER_RUN_CHOOSER_H

#include <gtk/gtk.h>

struct view;

GtkWidget *run_chooser_new(struct view *view);
void run_chooser_request(struct view *view); /* requests the list */

#endif
