/* Names of controls for screen readers. */
#ifndef CLIENTS_VIEWER_STATE_ACCESSIBLE_NAME_H
#define CLIENTS_VIEWER_STATE_ACCESSIBLE_NAME_H

#include <gtk/gtk.h>

/* Names a control that has no label of its own. The button of a drop-down list gets the name,
 * too. */
static inline void accessible_name_set(GtkWidget *widget, const char *name)
{
    gtk_accessible_update_property(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_PROPERTY_LABEL, name, -1);
    if (GTK_IS_DROP_DOWN(widget))
        accessible_name_set(gtk_widget_get_first_child(widget), name);
}

/* Names a widget by the text of a label, whatever that is. */
static inline void accessible_name_from(GtkWidget *widget, GtkWidget *label)
{
    gtk_accessible_update_relation(GTK_ACCESSIBLE(widget), GTK_ACCESSIBLE_RELATION_LABELLED_BY,
                                   label, NULL, -1);
}

#endif
