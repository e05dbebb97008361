/* Keyboard focus of parts of the window: whether they have it, and giving it to the diagram before
 * they are hidden. */
#ifndef CLIENTS_VIEWER_DIAGRAM_FOCUS_H
#define CLIENTS_VIEWER_DIAGRAM_FOCUS_H

#include <gtk/gtk.h>
#include <stdbool.h>

struct view;

/* Returns the widget of the window that has the focus, also if the window has not; NULL if there is
 * none. */
GtkWidget *focus_widget(const struct view *view);
bool focus_is_in_entry(const struct view *view); /* returns whether that is for typing text */
/* Returns whether it handles keys: for typing, choosing or selecting. */
bool focus_handles_keys(const struct view *view);
bool focus_within(const struct view *view, GtkWidget *widget);

/* Moves the focus to the diagram if it is within the widget, which is about to be hidden: GTK would
 * move it to a widget nearby, such as the first row of a list, and select that. */
void focus_leave(struct view *view, GtkWidget *widget);

void focus_set_visible(struct view *view, GtkWidget *widget, bool visible); /* leaves it first */

/* Makes Tab and Shift+Tab leave a list: GTK has them go to each of its rows, which may be many, and
 * which the arrow keys go to. */
void focus_tab_past_rows(GtkWidget *list);

#endif
