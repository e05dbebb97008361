#include "clients/view/about.h"

#include "clients/poet/version.h"
#include "clients/view/dialog.h"
#include "clients/view/picture/view.h"

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

void about_help(struct view *view)
{
    GtkWidget *window = dialog_new(view, "Help"), *text = gtk_label_new(NULL);
    gtk_label_set_markup(GTK_LABEL(text), help);
    gtk_label_set_wrap(GTK_LABEL(text), TRUE);
    gtk_label_set_xalign(GTK_LABEL(text), 0);
    gtk_label_set_max_width_chars(GTK_LABEL(text), 70);
    g_object_set(text, "margin-top", 18, "margin-bottom", 18, "margin-start", 22, "margin-end", 22,
                 NULL);
    gtk_window_set_child(GTK_WINDOW(window), text);
    gtk_window_present(GTK_WINDOW(window));
}

void about_show(struct view *view)
{
    gtk_show_about_dialog(GTK_WINDOW(view->window), "program-name", "Poet", "version", POET_VERSION,
                          "comments", "The order of events in concurrent programs",
                          "logo-icon-name", "io.github.poet.View", NULL);
}
