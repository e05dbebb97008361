/* The choice of the run that is shown: by the list of a server's runs, and when a newer one begins.
 *
 * If the view follows the end of its run, a newer run is shown immediately; otherwise it is
 * announced. */
#ifndef CLIENTS_VIEWER_RUN_CHOOSER_H
#define CLIENTS_VIEWER_RUN_CHOOSER_H

#include <gtk/gtk.h>

struct view;

GtkWidget *run_chooser_new(struct view *view);
void run_chooser_request(struct view *view); /* requests the list */

void run_chooser_on_begun(struct view *view, const char *name);
void run_chooser_on_shown(struct view *view); /* call when another run is shown */

#endif
