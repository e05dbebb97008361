/* All panels of the sidebar: their pages with a switcher, and the notifications for them. */
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/sidebar/panel.h"
#include "clients/viewer/state/page_switcher.h"

#define ROW(name) &panel_##name,
static const struct panel *const panels[] = {PANELS(ROW)};

static void panels_on_notification(struct view *view, enum notification what)
{
    for (size_t i = 0; i < G_N_ELEMENTS(panels); i++)
        if (panels[i]->on_notification)
            panels[i]->on_notification(view, what);
}

void panels_clear(struct view *view)
{
    for (size_t i = 0; i < G_N_ELEMENTS(panels); i++)
        if (panels[i]->clear)
            panels[i]->clear(view);
}

static void panels_on_page_shown(GObject *object, GParamSpec *spec, gpointer data)
{
    const char *page = gtk_stack_get_visible_child_name(GTK_STACK(object));
    (void)spec;
    for (size_t i = 0; i < G_N_ELEMENTS(panels); i++)
        if (g_strcmp0(page, panels[i]->name) == 0 && panels[i]->on_notification)
            panels[i]->on_notification(data, NOTIFY_TAB_SHOWN);
}

GtkWidget *panels_new(struct view *view)
{
    notifier_connect(&view->notifier, NOTIFY_MIDDLE, NOTIFY_ALL, panels_on_notification);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0), *stack = gtk_stack_new();
    view->panels = stack;
    for (size_t i = 0; i < G_N_ELEMENTS(panels); i++)
        gtk_stack_add_titled(GTK_STACK(stack), panels[i]->build(view), panels[i]->name,
                             panels[i]->title);
    g_signal_connect(stack, "notify::visible-child-name", G_CALLBACK(panels_on_page_shown), view);
    gtk_box_append(GTK_BOX(box), page_switcher_new(stack));
    gtk_widget_set_vexpand(stack, TRUE);
    gtk_box_append(GTK_BOX(box), stack);
    gtk_widget_set_size_request(box, 250, -1);
    return box;
}
