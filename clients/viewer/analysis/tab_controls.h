/* The controls above the table of a tab: buttons that choose its form, and the actions behind
 * them. */
#ifndef CLIENTS_VIEWER_ANALYSIS_TAB_CONTROLS_H
#define CLIENTS_VIEWER_ANALYSIS_TAB_CONTROLS_H

#include <gtk/gtk.h>

struct view;

/* A form of the table: the state of the action is its name. */
struct tab_form {
    const char *name, *label, *tooltip;
};

/* Adds an action of the window; state NULL: it has none. */
GSimpleAction *tab_controls_add_action(struct view *view, const char *name,
                                       const GVariantType *type, GVariant *state, GCallback does);
/* Returns a row of linked buttons, one for each form, that activate "win.ACTION". */
GtkWidget *tab_controls_forms(const char *action, const struct tab_form *forms, size_t count);
/* Sets the action's state to the form of that name; returns its index, `count` if there is none. */
size_t tab_controls_choose(GSimpleAction *action, GVariant *wanted, const struct tab_form *forms,
                           size_t count);
/* Returns a row for the controls, which scrolls if it is wider than the pane; sets *row. */
GtkWidget *tab_controls_row(GtkWidget **row);

#endif
