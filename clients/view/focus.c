#include "clients/view/focus.h"

#include "clients/view/picture/view.h"

struct focus {
    guint soon; /* it is looked at then */
};

static GtkWidget *focused(struct view *view)
{
    return gtk_window_get_focus(GTK_WINDOW(view->window));
}

bool focus_writes(struct view *view)
{
    GtkWidget *at = focused(view);
    return at && (GTK_IS_EDITABLE(at) ||
                  (GTK_IS_TEXT_VIEW(at) && gtk_text_view_get_editable(GTK_TEXT_VIEW(at))));
}

bool focus_within(struct view *view, GtkWidget *widget)
{
    GtkWidget *at = focused(view);
    return at && (at == widget || gtk_widget_is_ancestor(at, widget));
}

/* Does it have a use for keys: something is written, chosen or marked there? */
static bool is_used(struct view *view, GtkWidget *at)
{
    if (focus_writes(view) || GTK_IS_TEXT_VIEW(at))
        return true;
    if (GTK_IS_LABEL(at))
        return gtk_label_get_selection_bounds(GTK_LABEL(at), NULL, NULL);
    return g_object_get_data(G_OBJECT(at), "keys") || GTK_IS_LIST_BOX_ROW(at) ||
           gtk_widget_get_ancestor(at, GTK_TYPE_LIST_VIEW) ||
           gtk_widget_get_ancestor(at, GTK_TYPE_COLUMN_VIEW) ||
           gtk_widget_get_ancestor(at, GTK_TYPE_POPOVER);
}

static gboolean on_soon(gpointer data)
{
    struct view *view = data;
    view->focus->soon = 0;
    GtkWidget *at = focused(view);
    if ((!at || !is_used(view, at)) && gtk_widget_get_mapped(view->canvas))
        gtk_widget_grab_focus(view->canvas);
    return G_SOURCE_REMOVE;
}

void focus_home(struct view *view)
{
    if (view->focus && !view->focus->soon)
        view->focus->soon = g_idle_add(on_soon, view); /* when what was done has had its way */
}

/* What was clicked has got it by then, and has done what it does. */
static gboolean on_event(GtkEventControllerLegacy *controller, GdkEvent *event, gpointer data)
{
    (void)controller;
    GdkEventType type = gdk_event_get_event_type(event);
    if (type == GDK_BUTTON_RELEASE || type == GDK_TOUCH_END)
        focus_home(data);
    return FALSE;
}

static void on_destroy(GtkWidget *window, gpointer data)
{
    struct view *view = data;
    (void)window;
    if (view->focus->soon)
        g_source_remove(view->focus->soon);
    g_clear_pointer(&view->focus, g_free);
}

void focus_watch(struct view *view)
{
    GtkEventController *all = gtk_event_controller_legacy_new();
    view->focus = g_new0(struct focus, 1);
    gtk_event_controller_set_propagation_phase(all, GTK_PHASE_CAPTURE);
    g_signal_connect(all, "event", G_CALLBACK(on_event), view);
    gtk_widget_add_controller(view->window, all);
    g_signal_connect(view->window, "destroy", G_CALLBACK(on_destroy), view);
}
