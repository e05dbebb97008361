/* The focus of the window comes back to the picture: after a click on a button or the slider, after
 * a menu, after an action, and from what is hidden while it has it.  Entries and lists keep it, and
 * so does who goes there by Tab. */
#ifndef CLIENTS_VIEWER_FOCUS_RETURN_H
#define CLIENTS_VIEWER_FOCUS_RETURN_H

#include <gtk/gtk.h>
#include <stdbool.h>

struct view;

void focus_watch(struct view *view); /* from now on */
void focus_return_to_diagram(
    struct view *view); /* soon: unless it is where something is written or chosen */
bool focus_is_in_entry(struct view *view); /* is it in an entry? */
bool focus_within(struct view *view, GtkWidget *widget);

#endif
