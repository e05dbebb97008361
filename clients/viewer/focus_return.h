/* Returning the keyboard focus to the diagram: after a click on a button or the slider, after a
 * menu, after an action, and from a widget that is hidden while it has the focus. Entries and lists
 * keep it, and so do widgets reached by Tab. */
#ifndef CLIENTS_VIEWER_FOCUS_RETURN_H
#define CLIENTS_VIEWER_FOCUS_RETURN_H

#include <gtk/gtk.h>
#include <stdbool.h>

struct view;

void focus_watch(struct view *view); /* starts watching */
void focus_return_to_diagram(
    struct view *view); /* soon: unless the focus is where text is entered or chosen */

#endif
