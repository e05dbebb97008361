#include "clients/viewer/focus_return.h"

#include "clients/viewer/analysis/analysis_pane.h"
#include "clients/viewer/diagram/focus.h"
#include "clients/viewer/diagram/viewer.h"

struct focus {
    guint soon; /* idle source that checks the focus */
    bool home; /* it then returns from widgets that handle no keys */
    bool in_drawer; /* it was in the analysis pane last */
    GtkWidget *at; /* the focused widget, which is watched for its unmapping; NULL: none */
    gulong unmapping;
};

static const struct viewer_addon focus_addon = {"focus", sizeof(struct focus)};

static struct focus *focus_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &focus_addon);
}

/* Returns whether no visible widget has the focus: a hidden one may keep it, but gets no keys. */
static bool is_lost(struct view *view)
{
    GtkWidget *at = focus_widget(view);
    return !at || !gtk_widget_get_mapped(at);
}

static gboolean on_soon(gpointer data)
{
    struct view *view = data;
    struct focus *f = focus_find(view);
    bool home = f->home;
    f->soon = 0;
    f->home = false;
    if (is_lost(view) && f->in_drawer && view->viewer_settings.drawer)
        analysis_pane_focus(view);
    if ((is_lost(view) || (home && !focus_handles_keys(view))) &&
        gtk_widget_get_mapped(view->canvas))
        gtk_widget_grab_focus(view->canvas);
    return G_SOURCE_REMOVE;
}

/* Checks the focus when idle, after the current action. */
static void focus_check_soon(struct view *view)
{
    struct focus *f = focus_find(view);
    if (!f->soon)
        f->soon = g_idle_add(on_soon, view);
}

void focus_return_to_diagram(struct view *view)
{
    struct focus *f = focus_find(view);
    if (!f)
        return;
    f->home = true;
    focus_check_soon(view);
}

static void on_unmap(GtkWidget *widget, gpointer data)
{
    (void)widget;
    focus_check_soon(data);
}

static void focus_stop_watching(struct focus *f)
{
    if (f->at) {
        g_signal_handler_disconnect(f->at, f->unmapping);
        g_object_remove_weak_pointer(G_OBJECT(f->at), (gpointer *)&f->at);
    }
    f->at = NULL;
}

static void on_moved(GObject *window, GParamSpec *spec, gpointer data)
{
    struct view *view = data;
    struct focus *f = focus_find(view);
    (void)window;
    (void)spec;
    focus_stop_watching(f);
    f->at = focus_widget(view);
    if (f->at) {
        f->in_drawer = analysis_pane_has_focus(view);
        f->unmapping = g_signal_connect(f->at, "unmap", G_CALLBACK(on_unmap), view);
        g_object_add_weak_pointer(G_OBJECT(f->at), (gpointer *)&f->at);
    }
    if (is_lost(view))
        focus_check_soon(view);
}

/* Gives the focus back to the diagram after a click, which its widget has handled by then. */
static gboolean on_event(GtkEventControllerLegacy *controller, GdkEvent *event, gpointer data)
{
    (void)controller;
    GdkEventType type = gdk_event_get_event_type(event);
    if (type == GDK_BUTTON_RELEASE || type == GDK_TOUCH_END)
        focus_return_to_diagram(data);
    return FALSE;
}

static void on_destroy(GtkWidget *window, gpointer data)
{
    struct view *view = data;
    g_signal_handlers_disconnect_by_func(window, G_CALLBACK(on_moved), view);
    struct focus *f = focus_find(view);
    focus_stop_watching(f);
    if (f->soon)
        g_source_remove(f->soon);
    viewer_addons_remove(&view->addons, &focus_addon);
}

void focus_watch(struct view *view)
{
    GtkEventController *all = gtk_event_controller_legacy_new();
    viewer_addons_add(&view->addons, &focus_addon);
    gtk_event_controller_set_propagation_phase(all, GTK_PHASE_CAPTURE);
    g_signal_connect(all, "event", G_CALLBACK(on_event), view);
    gtk_widget_add_controller(view->window, all);
    g_signal_connect(view->window, "notify::focus-widget", G_CALLBACK(on_moved), view);
    g_signal_connect(view->window, "destroy", G_CALLBACK(on_destroy), view);
}
