#include "clients/viewer/sidebar/row_list.h"

#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/viewer.h"
#include "wire/trace_view.h"

static void on_row(GtkListBox *list, GtkListBoxRow *row, gpointer data)
{
    struct event_id at;
    const char *event = g_object_get_data(G_OBJECT(row), "event");
    (void)list;
    if (event && event_id_parse(event, &at))
        go_to_event(data, at, NO_POSITION);
}

void row_list_add(GtkWidget *list, const char *markup, struct event_id at)
{
    GtkWidget *label = gtk_label_new(NULL), *row = gtk_list_box_row_new();
    char text[48];
    gtk_label_set_markup(GTK_LABEL(label), markup);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    gtk_label_set_wrap_mode(GTK_LABEL(label), PANGO_WRAP_WORD_CHAR);
    g_object_set(label, "margin-top", 4, "margin-bottom", 4, "margin-start", 8, "margin-end", 8,
                 NULL);
    gtk_list_box_row_set_child(GTK_LIST_BOX_ROW(row), label);
    if (at.line) {
        event_id_print(text, sizeof text, at);
        g_object_set_data_full(G_OBJECT(row), "event", g_strdup(text), g_free);
    }
    gtk_list_box_row_set_activatable(GTK_LIST_BOX_ROW(row), at.line != 0);
    gtk_list_box_append(GTK_LIST_BOX(list), row);
}

void row_list_clear(GtkWidget *list)
{
    GtkWidget *row;
    while ((row = gtk_widget_get_first_child(list)) && GTK_IS_LIST_BOX_ROW(row))
        gtk_list_box_remove(GTK_LIST_BOX(list), row);
}

GtkWidget *row_list_new(struct view *view, GtkWidget **list, const char *nothing)
{
    GtkWidget *scrolled = gtk_scrolled_window_new(), *label = gtk_label_new(nothing);
    *list = gtk_list_box_new();
    gtk_label_set_wrap(GTK_LABEL(label), TRUE);
    g_object_set(label, "margin-top", 20, "margin-start", 10, "margin-end", 10, NULL);
    gtk_list_box_set_placeholder(GTK_LIST_BOX(*list), label);
    gtk_list_box_set_selection_mode(GTK_LIST_BOX(*list), GTK_SELECTION_BROWSE);
    g_signal_connect(*list, "row-activated", G_CALLBACK(on_row), view);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), *list);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_NEVER,
                                   GTK_POLICY_AUTOMATIC);
    return scrolled;
}
