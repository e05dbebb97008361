/* Everything that can be done, in one table: from it come the actions of the window, their keys,
 * the menu and the window of shortcuts. */
#ifndef CLIENTS_VIEW_ACTION_H
#define CLIENTS_VIEW_ACTION_H

struct view;

void actions_install(struct view *view);
void actions_update(struct view *view); /* what is switched on, and what can be done */
const char *action_title(const char *name); /* NULL: there is none of that name */

#endif
