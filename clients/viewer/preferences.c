/* The preferences dialog. */
#include "clients/viewer/dialogs.h"

#include "clients/connection/line_labels.h"
#include "clients/viewer/diagram/diagram_view.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/server_link.h"

struct preference_option {
    struct view *view;
    bool *on;
};

static gboolean on_switch(GtkSwitch *widget, gboolean on, gpointer data)
{
    struct preference_option *o = data;
    (void)widget;
    *o->on = on;
    if (o->on == &o->view->viewer_settings.look.dark)
        o->view->viewer_settings.dark_follows = false;
    diagram_view_rebuild(o->view);
    notifier_emit(&o->view->notifier, NOTIFY_SETTINGS);
    return FALSE;
}

static void add_row(GtkWidget *grid, int row, const char *text, GtkWidget *widget)
{
    GtkWidget *label = gtk_label_new_with_mnemonic(text);
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_mnemonic_widget(GTK_LABEL(label), widget);
    gtk_widget_set_hexpand(label, TRUE);
    gtk_widget_set_halign(widget, GTK_ALIGN_END);
    gtk_grid_attach(GTK_GRID(grid), label, 0, row, 1, 1);
    gtk_grid_attach(GTK_GRID(grid), widget, 1, row, 1, 1);
}

static void add_switch(struct view *view, GtkWidget *grid, int row, const char *text, bool *on)
{
    GtkWidget *widget = gtk_switch_new();
    struct preference_option *o = g_new(struct preference_option, 1);
    *o = (struct preference_option){view, on};
    gtk_switch_set_active(GTK_SWITCH(widget), *on);
    g_signal_connect_data(widget, "state-set", G_CALLBACK(on_switch), o,
                          (GClosureNotify)(void (*)(void))g_free, 0);
    add_row(grid, row, text, widget);
}

static void on_labels(GObject *object, GParamSpec *spec, gpointer data)
{
    struct view *view = data;
    (void)spec;
    view->viewer_settings.look.labels =
        (enum labels)gtk_drop_down_get_selected(GTK_DROP_DOWN(object));
    if (!view->server_link.has_run)
        return;
    server_link_rename_all_lines(&view->server_link, view->viewer_settings.look.labels);
    diagram_view_rebuild(view);
    notifier_emit(&view->notifier, NOTIFY_DIAGRAM);
}

static void on_editor(GtkEditable *entry, gpointer data)
{
    struct view *view = data;
    g_free(view->viewer_settings.editor);
    view->viewer_settings.editor = g_strdup(gtk_editable_get_text(entry));
}

static void on_threshold(GtkSpinButton *spin, gpointer data)
{
    struct view *view = data;
    view->viewer_settings.look.threshold_ns = (int64_t)(gtk_spin_button_get_value(spin) * 1000000);
    diagram_view_rebuild(view);
}

void preferences_show(struct view *view)
{
    static const char *const labels[] = {"Name", "Name and number", "Name and address", NULL};
    struct viewer_settings *s = &view->viewer_settings;
    GtkWidget *window = dialog_new(view, "Settings"), *grid = gtk_grid_new(),
              *choice = gtk_drop_down_new_from_strings(labels), *editor = gtk_entry_new(),
              *threshold = gtk_spin_button_new_with_range(0, 1000000, 1);
    gtk_window_set_modal(GTK_WINDOW(window), TRUE);
    g_object_set(grid, "row-spacing", 10, "column-spacing", 24, "margin-top", 16, "margin-bottom",
                 16, "margin-start", 16, "margin-end", 16, NULL);
    gtk_drop_down_set_selected(GTK_DROP_DOWN(choice), (guint)s->look.labels);
    g_signal_connect(choice, "notify::selected", G_CALLBACK(on_labels), view);
    gtk_editable_set_text(GTK_EDITABLE(editor), s->editor ? s->editor : "");
    gtk_entry_set_placeholder_text(GTK_ENTRY(editor), "$VISUAL");
    g_signal_connect(editor, "changed", G_CALLBACK(on_editor), view);
    gtk_spin_button_set_digits(GTK_SPIN_BUTTON(threshold), 3);
    gtk_spin_button_set_value(GTK_SPIN_BUTTON(threshold), (double)s->look.threshold_ns / 1e6);
    g_signal_connect(threshold, "value-changed", G_CALLBACK(on_threshold), view);
    add_row(grid, 0, "_Labels", choice);
    accessible_name_set(choice, "Labels");
    add_switch(view, grid, 1, "_Dark", &s->look.dark);
    add_switch(view, grid, 2, "_Grayscale", &s->look.grey);
    add_switch(view, grid, 3, "_Shade every fourth row", &s->tint);
    add_switch(view, grid, 4, "G_uide lines on idle lines", &s->look.hairlines);
    add_switch(view, grid, 5, "_Compress long gaps", &s->look.squeeze);
    add_switch(view, grid, 6, "_Move selection when it scrolls out of view", &s->reselect);
    add_row(grid, 7, "_Highlight waits longer than (ms, 0 = off)", threshold);
    add_row(grid, 8, "_Editor", editor);
    gtk_window_set_child(GTK_WINDOW(window), dialog_scrolled(grid));
    gtk_window_present(GTK_WINDOW(window));
}
