#include "clients/viewer/about_dialog.h"

#include "clients/cli/version.h"
#include "clients/viewer/dialogs.h"
#include "clients/viewer/diagram/viewer.h"

static const char help[] =
    "<b>Reading the diagram</b>\n"
    "Each row is a line: a thread, a lock, a queue or another object. A mark is an event; time "
    "runs to the right. Simultaneous events are in one column, and arrows lead from cause to "
    "effect. Two events without a causal chain between them are <i>concurrent</i>. F2 shows the "
    "legend.\n\n"
    "<b>Analyzing</b>\n"
    "Click an event: its causal past turns blue, its future orange. Ctrl+click a second event to "
    "see which happened first and why: the status line names their relation, and the causal chain "
    "is highlighted. W goes to the longest-blocked thread. Ctrl+F finds event types, lines, "
    "annotations and source locations.\n\n"
    "<b>Navigating</b>\n"
    "Drag, turn the wheel, or press Shift and an arrow key to scroll; Home and End go to the start "
    "and the end. + and - zoom, * shows the whole run. Arrow keys alone go from event to event, "
    "Enter to the partner event, [ and ] to the nearest cause and effect. Ctrl+Z undoes any view "
    "change, Escape goes back.\n\n"
    "<b>Saving</b>\n"
    "Ctrl+D adds a note to the selected event; notes are saved with the trace. Ctrl+S exports the "
    "diagram.\n\n"
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

/* Unselects the name, which GTK selects at first, and hides the icon if it is not installed. */
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
                 "Event order, waits and deadlocks of concurrent programs", "copyright",
                 "© 2026 the Poet authors", "license-type", GTK_LICENSE_MIT_X11, "logo-icon-name",
                 has_icon ? icon : NULL, "title", "About Poet", "transient-for", view->window,
                 "modal", TRUE, NULL);
    dialog_close_on_escape(about);
    gtk_window_present(GTK_WINDOW(about));
    about_fix_widgets(gtk_window_get_child(GTK_WINDOW(about)), has_icon);
    gtk_window_set_focus(GTK_WINDOW(about), NULL);
}
