/* What stands beside the picture, a page of it at a time. */
#include "clients/view/view.h"

void panel_show(struct view *view, const char *page)
{
    gtk_stack_set_visible_child_name(GTK_STACK(view->panel_stack), page);
    if (!view->settings.panel) {
        view->settings.panel = true;
        settings_apply(view);
    }
}

static void on_page(GObject *object, GParamSpec *spec, gpointer data)
{
    struct view *view = data;
    const char *page = gtk_stack_get_visible_child_name(GTK_STACK(object));
    (void)spec;
    if (g_strcmp0(page, "trouble") == 0)
        troubles_ask(view);
    else if (g_strcmp0(page, "waiting") == 0)
        waits_ask(view);
}

GtkWidget *panel_new(struct view *view)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0), *stack = gtk_stack_new(),
              *find = gtk_box_new(GTK_ORIENTATION_VERTICAL, 4), *scrolled = gtk_scrolled_window_new();
    view->panel_stack = stack;
    gtk_box_append(GTK_BOX(find), find_new(view));
    gtk_box_append(GTK_BOX(find), events_new(view));
    gtk_stack_add_titled(GTK_STACK(stack), details_new(view), "event", "Event");
    gtk_stack_add_titled(GTK_STACK(stack), find, "find", "Events");
    gtk_stack_add_titled(GTK_STACK(stack), waits_new(view), "waiting", "Waiting");
    gtk_stack_add_titled(GTK_STACK(stack), troubles_new(view), "trouble", "Trouble");
    gtk_stack_add_titled(GTK_STACK(stack), bookmarks_new(view), "bookmarks", "Marks");
    gtk_stack_add_titled(GTK_STACK(stack), text_new(view), "text", "Text");
    g_signal_connect(stack, "notify::visible-child-name", G_CALLBACK(on_page), view);
    GtkWidget *switcher = gtk_stack_switcher_new();
    gtk_widget_add_css_class(switcher, "pages");
    gtk_stack_switcher_set_stack(GTK_STACK_SWITCHER(switcher), GTK_STACK(stack));
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), switcher);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_AUTOMATIC, GTK_POLICY_NEVER);
    gtk_box_append(GTK_BOX(box), scrolled);
    gtk_widget_set_vexpand(stack, TRUE);
    gtk_box_append(GTK_BOX(box), stack);
    gtk_widget_set_size_request(box, 340, -1);
    return box;
}
