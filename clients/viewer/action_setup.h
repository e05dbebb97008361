/* Everything that can be done, of one table (actions.h): from it come the actions of the window,
 * their keys, the menu and the window of shortcuts. */
#ifndef CLIENTS_VIEWER_ACTION_SETUP_H
#define CLIENTS_VIEWER_ACTION_SETUP_H

#include <stdbool.h>
#include <stddef.h>

struct view;

struct action {
    const char *group, *name, *title, *keys; /* keys: by spaces */
    void (*perform)(struct view *view);
    bool (*state)(const struct view *view); /* of a switch; or NULL */
};

/* What is done with the line of the selected event. */
struct line_key {
    const char *action, *title, *key;
};

void actions_install(struct view *view);
void actions_update(struct view *view); /* what is switched on, and what can be done */
const char *action_title(const char *name); /* NULL: there is none of that name */
char *action_key(const char *name); /* the first, to be freed; NULL: it has none */

#endif
