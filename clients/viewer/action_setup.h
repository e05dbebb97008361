/* Setup of all actions from one table (actions.h): it defines the actions of the window, their
 * keys, the menu and the window of shortcuts. */
#ifndef CLIENTS_VIEWER_ACTION_SETUP_H
#define CLIENTS_VIEWER_ACTION_SETUP_H

#include <stdbool.h>
#include <stddef.h>

struct view;

struct action {
    const char *group, *name, *title, *keys; /* keys: separated by spaces */
    void (*perform)(struct view *view);
    bool (*state)(const struct view *view); /* of a toggle; or NULL */
};

/* An action on the line of the selected event. */
struct line_key {
    const char *action, *title, *key;
};

void actions_install(struct view *view);
void actions_update(struct view *view); /* toggle states, and which actions are enabled */
const char *action_title(const char *name); /* returns NULL if there is none of that name */
char *action_key(const char *name); /* returns the first key, which the caller frees; NULL: none */

#endif
