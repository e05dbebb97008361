/* What scripts (viewer_script.h) write of the viewer's state, as text. */
#ifndef CLIENTS_VIEWER_SCRIPT_STATE_H
#define CLIENTS_VIEWER_SCRIPT_STATE_H

#include <stdbool.h>

struct view;

/* Appends a part of the state, one of the list in script_state.c, to a file; "": to standard
 * output. Returns false if there is no part of that name; prints a message if the file cannot be
 * written. */
bool script_state_write(struct view *view, const char *part, const char *file);

#endif
