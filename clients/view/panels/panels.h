/* All panels. */
#ifndef CLIENTS_VIEW_PANELS_PANELS_H
#define CLIENTS_VIEW_PANELS_PANELS_H

#include "clients/view/panels/panel.h"

GtkWidget *panels_new(struct view *view);
void panels_tell(struct view *view, enum news news); /* all; SHOWN is told by their pages alone */
void panels_clear(struct view *view);                /* another run */

/* Each in the file of its name. */
extern const struct panel panel_event, panel_find, panel_waiting, panel_trouble, panel_bookmarks,
    panel_text;

#endif
