#include "clients/viewer/about_dialog.h"

#include "clients/cli/version.h"
#include "clients/viewer/dialogs.h"
#include "clients/viewer/diagram/viewer.h"

static const char help[] =
    "<b>The picture</b>\n"
    "Each row is a thread, a lock, a queue or whatever else events happen on; time runs to the right. A mark is "
    "an event. Events that meet stand in one column, and arrows lead from cause to effect: what is not tied by "
    "them, in no number of steps, is <i>concurrent</i>. F2 shows what the marks mean.\n\n"
    "<b>Asking</b>\n"
    "Click an event: its past turns blue, its future orange. Ctrl+click another one: the line below says which "
    "was before which, and the chain between them is marked. W leads to who has waited longest. Ctrl+F finds "
    "types, lines, texts and places of the source.\n\n"
    "<b>Moving</b>\n"
    "Drag, turn the wheel, or press Shift and an arrow key; Home and End lead to the ends. + and - zoom, * shows the "
    "whole run. Arrow keys alone go from event to event, Enter to the other end of an arrow, [ and ] to the "
    "nearest cause and effect. Ctrl+Z undoes any change of view, Escape goes back.\n\n"
    "<b>Keeping</b>\n"
    "Ctrl+D writes a note at the selected event; notes stay with the trace. Ctrl+S saves the diagram.\n\n"
    "Ctrl+? lists all keys. More is in the manual: <tt>man poet-view</tt>.";

void about_dialog_show_help(struct view *view)
{
    GtkWidget *window = dialog_new(view, "Help"), *text = gtk_label_new(NULL);
    gtk_label_set_markup(GTK_LABEL(text), help);
    gtk_label_set_wrap(GTK_LABEL(text), TRUE);
    gtk_label_set_xalign(GTK_LABEL(text), 0);
    gtk_label_set_max_width_chars(GTK_LABEL(text), 70);
    g_object_set(text, "margin-top", 18, "margin-bottom", 18, "margin-start", 22, "margin-end", 22,
                 NULL);
    gtk_window_set_child(GTK_WINDOW(window), dialog_scrolled(text));
    gtk_window_present(GTK_WINDOW(window));
}

/* Its name would be selected at first, as if it was to be copied; an icon that is not installed
 * leaves a hole. */
static void about_fix_widgets(GtkWidget *in, bool has_icon)
{
    if (GTK_IS_LABEL(in) && gtk_label_get_selectable(GTK_LABEL(in)))
        gtk_label_select_region(GTK_LABEL(in), 0, 0);
    if (GTK_IS_IMAGE(in) && !has_icon)
        gtk_widget_set_visible(in, FALSE);
    for (GtkWidget *child = gtk_widget_get_first_child(in); child;
         child = gtk_widget_get_next_sibling(child))
        about_fix_widgets(child, has_icon);
}

void about_dialog_show(struct view *view)
{
    static const char icon[] = "io.github.poet.View";
    GtkIconTheme *theme = gtk_icon_theme_get_for_display(gtk_widget_get_display(view->window));
    bool has_icon = gtk_icon_theme_has_icon(theme, icon);
    GtkWidget *about = gtk_about_dialog_new();
    g_object_set(about, "program-name", "Poet", "version", POET_VERSION, "comments",
                 "The order of events in concurrent programs", "copyright",
                 "© 2026 the Poet authors", "license-type", GTK_LICENSE_MIT_X11, "logo-icon-name",
                 has_icon ? icon : NULL, "title", "About Poet", "transient-for", view->window,
                 "modal", TRUE, NULL);
    dialog_close_on_escape(about);
    gtk_window_present(GTK_WINDOW(about));
    about_fix_widgets(gtk_window_get_child(GTK_WINDOW(about)), has_icon);
    gtk_window_set_focus(GTK_WINDOW(about), NULL);
}
