/* The analysis pane below the diagram: tabs with tables, one of which is visible. */
#ifndef CLIENTS_VIEWER_ANALYSIS_ANALYSIS_PANE_H
#define CLIENTS_VIEWER_ANALYSIS_ANALYSIS_PANE_H

#include "clients/viewer/analysis/tab.h"
#include "clients/viewer/state/notifications.h"

#include <gtk/gtk.h>
#include <stdbool.h>

struct view;

/* Returns the diagram with the pane below it; the user can drag its height. */
GtkWidget *analysis_pane_new(struct view *view, GtkWidget *picture);
void analysis_pane_clear(struct view *view); /* another run */
/* Opens it with this tab (NULL: the previous one), and gives it the focus. */
void analysis_pane_open(struct view *view, const char *page);
/* Shows what a thread did, or which threads held a lock, in the tab of their details. */
void analysis_pane_show_line(struct view *view, uint32_t line);
void analysis_pane_close(struct view *view);
void analysis_pane_focus(struct view *view); /* to the visible tab */
bool analysis_pane_has_focus(struct view *view);
bool analysis_pane_is_busy(struct view *view); /* whether its tab has a pending request */
struct tab_instance *analysis_pane_current_tab(struct view *view); /* the visible one */

/* Export of the visible tab of the analysis pane to an image file. */

bool tab_export_is_possible(struct view *view); /* whether it has the focus, and is not empty */
void tab_export_ask(struct view *view); /* asks for the file, then exports */
void tab_export_write(struct view *view,
                      const char *file); /* reports the result in the status line */

#endif
