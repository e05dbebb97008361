/* The drawer under the picture: pages of tables, one of which is looked at. */
#ifndef CLIENTS_VIEWER_ANALYSIS_ANALYSIS_PANE_H
#define CLIENTS_VIEWER_ANALYSIS_ANALYSIS_PANE_H

#include "clients/viewer/analysis/tab.h"
#include "clients/viewer/state/notifications.h"

#include <gtk/gtk.h>

struct view;

/* The picture with the drawer below it, whose height can be dragged. */
GtkWidget *analysis_pane_new(struct view *view, GtkWidget *picture);
void analysis_pane_notify(struct view *view, enum notification news);
void analysis_pane_clear(struct view *view); /* another run */
/* Opens it, at this page (NULL: as it was), and gives it the focus. */
void analysis_pane_open(struct view *view, const char *page);
void analysis_pane_close(struct view *view);
void analysis_pane_focus(struct view *view); /* to the page that is shown */
bool analysis_pane_has_focus(struct view *view);
bool analysis_pane_is_busy(struct view *view); /* is its page being asked for? */
struct tab_instance *analysis_pane_current_tab(struct view *view); /* that is looked at */

#endif
