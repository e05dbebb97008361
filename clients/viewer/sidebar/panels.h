/* All panels of the sidebar. */
#ifndef CLIENTS_VIEWER_SIDEBAR_PANELS_H
#define CLIENTS_VIEWER_SIDEBAR_PANELS_H

#include "clients/viewer/sidebar/panel.h"

GtkWidget *panels_new(struct view *view);
void panels_clear(struct view *view);                /* another run */

/* In the order of their pages; each is in the file of its name. */
#define PANELS(X) X(event) X(find) X(waiting) X(trouble) X(notes) X(text)
#define PANEL_DECLARE(name) extern const struct panel panel_##name;
PANELS(PANEL_DECLARE)

#endif
