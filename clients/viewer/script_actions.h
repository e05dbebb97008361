/* Actions of scripts (viewer_script.h) that take arguments: what a user gives with the pointer, in
 * a dialog or in an entry. */
#ifndef CLIENTS_VIEWER_SCRIPT_ACTIONS_H
#define CLIENTS_VIEWER_SCRIPT_ACTIONS_H

#include <stdbool.h>

struct view;

/* words: the first three arguments, "" where there are fewer; text: all of them. */
struct script_arguments {
    const char *words[3];
    const char *text;
};

/* Performs an action of the list in script_actions.c, or of the window (actions.h) with a target
 * or none. Returns false if there is no action of that name. */
bool script_actions_perform(struct view *view, const char *name,
                            const struct script_arguments *arguments);
/* Returns an integer; 0: not a number, or too large. */
int script_actions_integer(const char *text);

#endif
