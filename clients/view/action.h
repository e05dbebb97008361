/* Everything that can be done, in one table: from it come the actions of the window, their keys, the menu and the
 * window of shortcuts. */
#ifndef CLIENTS_VIEW_ACTION_H
#define CLIENTS_VIEW_ACTION_H

#include <gtk/gtk.h>

struct view;

struct actions {
    GMenu *recent; /* of the menu */
};

void actions_install(struct view *view);
GMenuModel *actions_menu(struct view *view);
void actions_recent(struct view *view); /* what was opened before, in the menu */
void actions_update(struct view *view); /* what is switched on, and what can be done */

#endif
