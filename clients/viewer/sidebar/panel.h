/* What stands beside the picture: panels, a page of one at a time.
 *
 * A panel is a file here with a `const struct panel`, and a row of the table in panels.h.  It
 * has its own state and asks its own questions; of all else it hears by news. */
#ifndef CLIENTS_VIEWER_SIDEBAR_PANEL_H
#define CLIENTS_VIEWER_SIDEBAR_PANEL_H

#include "clients/viewer/state/notifications.h"

#include <gtk/gtk.h>

struct view;

struct panel {
    const char *name, *title; /* of its page: for actions; for people */
    GtkWidget *(*build)(struct view *view);
    void (*on_notification)(struct view *view, enum notification news); /* or NULL */
    void (*clear)(struct view *view);                /* another run; or NULL */
};

void panel_show(struct view *view, const char *name); /* and the side panel, if it is not there */
bool panel_is_first(struct view *view); /* no other page is shown */
void panel_back(struct view *view); /* to the first page, if another one is shown */

/* What a panel keeps, freed with the window by g_free. */
void panel_keep(struct view *view, const struct panel *panel, void *state);
void *panel_state(const struct view *view, const struct panel *panel);

#endif
