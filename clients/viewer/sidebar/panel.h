/* Panels beside the diagram, of which one page is visible at a time.
 *
 * A panel is a file here with a `const struct panel`, and an entry in the table in panels.h. It has
 * its own state and sends its own requests; notifications tell it about everything else. */
#ifndef CLIENTS_VIEWER_SIDEBAR_PANEL_H
#define CLIENTS_VIEWER_SIDEBAR_PANEL_H

#include "clients/viewer/state/notifications.h"

#include <gtk/gtk.h>

struct view;

struct panel {
    const char *name, *title; /* of its page: for actions; for display */
    GtkWidget *(*build)(struct view *view);
    void (*on_notification)(struct view *view, enum notification what); /* or NULL */
    void (*clear)(struct view *view);                /* another run; or NULL */
};

/* also shows the side panel, if it is hidden */
void panel_show(struct view *view, const char *name);
bool panel_is_first(struct view *view); /* whether the first page is shown */
void panel_back(struct view *view); /* shows the first page */

/* Sets the state of a panel, which is freed with the window by g_free. */
void panel_keep(struct view *view, const struct panel *panel, void *state);
void *panel_state(const struct view *view, const struct panel *panel);

#endif
