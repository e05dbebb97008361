/* Actions with an argument, where a user has the pointer, a menu, a dialog or an entry: an event, a
 * line, a file and so on. */
#ifndef CLIENTS_VIEWER_ACTION_ARGUMENTS_H
#define CLIENTS_VIEWER_ACTION_ARGUMENTS_H

#include <stdbool.h>

struct view;

/* Adds those that are not in the table of actions.h to the window. */
void action_arguments_install(struct view *view);
/* Performs an action of the window; argument: words separated by spaces, or "". Returns false if
 * there is no action of that name, or if it takes no argument. */
bool action_arguments_perform(struct view *view, const char *name, const char *argument);

#endif
