#include "clients/viewer/analysis/analysis_pane.h"

#include "clients/viewer/analysis/band_rows.h"
#include "clients/viewer/analysis/metric_page.h"
#include "clients/viewer/analysis/tab_list.h"
#include "clients/viewer/diagram/viewer.h"

#define HEIGHT_LEAST 90

#define COUNT_PAGE(name) +1
enum { PAGE_COUNT = 0 PAGES(COUNT_PAGE) };

#define ROW(name) &page_##name,
static const struct tab *const analysis_pane_tabs[] = {PAGES(ROW)};

struct analysis_pane {
    GtkWidget *paned, *box, *stack;
    struct tab_instance *paged[PAGE_COUNT];
    bool placed; /* its saved height was set */
};

static const struct viewer_addon analysis_pane_addon = {"analysis_pane",
                                                        sizeof(struct analysis_pane)};

static struct analysis_pane *analysis_pane_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &analysis_pane_addon);
}

struct tab_instance *analysis_pane_current_tab(struct view *view)
{
    struct analysis_pane *d = analysis_pane_find(view);
    const char *name = gtk_stack_get_visible_child_name(GTK_STACK(d->stack));
    for (size_t i = 0; i < PAGE_COUNT; i++)
        if (g_strcmp0(analysis_pane_tabs[i]->name, name) == 0)
            return d->paged[i];
    return d->paged[0];
}

static void analysis_pane_on_notification(struct view *view, enum notification what)
{
    struct analysis_pane *d = analysis_pane_find(view);
    if (what == NOTIFY_SETTINGS && view->viewer_settings.drawer != gtk_widget_get_visible(d->box)) {
        gtk_widget_set_visible(d->box, view->viewer_settings.drawer);
        if (view->viewer_settings.drawer)
            tab_notify(analysis_pane_current_tab(view), NOTIFY_TAB_SHOWN, true);
    }
    for (size_t i = 0; i < PAGE_COUNT; i++)
        tab_notify(d->paged[i], what,
                   view->viewer_settings.drawer && d->paged[i] == analysis_pane_current_tab(view));
}

void analysis_pane_clear(struct view *view)
{
    highlights_clear(&view->highlights);
    for (size_t i = 0; i < PAGE_COUNT; i++)
        tab_clear(analysis_pane_find(view)->paged[i]);
}

/* ---- opening and closing ---- */

static void analysis_pane_set_open(struct view *view, bool open)
{
    if (view->viewer_settings.drawer == open)
        return;
    view->viewer_settings.drawer = open;
    if (!open) {
        highlights_clear(&view->highlights);
        notifier_emit(&view->notifier, NOTIFY_HITS);
    }
    notifier_emit(&view->notifier, NOTIFY_SETTINGS);
}

void analysis_pane_open(struct view *view, const char *page)
{
    if (page)
        gtk_stack_set_visible_child_name(GTK_STACK(analysis_pane_find(view)->stack), page);
    analysis_pane_set_open(view, true);
    analysis_pane_focus(view);
}

void analysis_pane_focus(struct view *view) { tab_focus(analysis_pane_current_tab(view)); }

void analysis_pane_close(struct view *view)
{
    bool had = analysis_pane_has_focus(view);
    analysis_pane_set_open(view, false);
    if (had)
        gtk_widget_grab_focus(view->canvas);
}

bool analysis_pane_has_focus(struct view *view)
{
    GtkWidget *at = gtk_window_get_focus(GTK_WINDOW(view->window));
    return at && gtk_widget_is_ancestor(at, analysis_pane_find(view)->box);
}

bool analysis_pane_is_busy(struct view *view)
{
    return view->viewer_settings.drawer &&
           (tab_is_busy(analysis_pane_current_tab(view)) || band_rows_are_busy(view) ||
            metric_page_is_busy(view, tab_definition(analysis_pane_current_tab(view))->name));
}

/* ---- construction ---- */

static void analysis_pane_on_tab(GObject *object, GParamSpec *spec, gpointer data)
{
    struct view *view = data;
    const char *name = gtk_stack_get_visible_child_name(GTK_STACK(object));
    (void)spec;
    if (!name || !view->viewer_settings.drawer)
        return;
    g_free(view->viewer_settings.drawer_page);
    view->viewer_settings.drawer_page = g_strdup(name);
    tab_notify(analysis_pane_current_tab(view), NOTIFY_TAB_SHOWN, true);
}

/* Sets the saved height of the pane; the diagram above it has the rest. */
static void analysis_pane_on_height(GObject *object, GParamSpec *spec, gpointer data)
{
    struct view *view = data;
    struct analysis_pane *d = analysis_pane_find(view);
    int all = gtk_widget_get_height(d->paned); /* of diagram and pane */
    (void)spec;
    if (d->placed || !gtk_widget_get_visible(d->box) || all < 2 * HEIGHT_LEAST || all > 20000)
        return;
    d->placed = true;
    gtk_paned_set_position(GTK_PANED(object), MAX(all - view->viewer_settings.drawer_px, all / 2));
}

static void on_dragged(GObject *object, GParamSpec *spec, gpointer data)
{
    struct view *view = data;
    (void)spec;
    struct analysis_pane *pane = analysis_pane_find(view);
    if (pane->placed && gtk_widget_get_visible(pane->box))
        view->viewer_settings.drawer_px =
            MAX(gtk_widget_get_height(pane->paned) - gtk_paned_get_position(GTK_PANED(object)),
                HEIGHT_LEAST);
}

static void on_close(GtkButton *button, gpointer data)
{
    (void)button;
    analysis_pane_close(data);
}

static GtkWidget *head_new(struct view *view, GtkWidget *stack)
{
    GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0),
              *switcher = gtk_stack_switcher_new(),
              *close = gtk_button_new_from_icon_name("window-close-symbolic");
    gtk_stack_switcher_set_stack(GTK_STACK_SWITCHER(switcher), GTK_STACK(stack));
    gtk_widget_add_css_class(switcher, "pages");
    gtk_widget_add_css_class(close, "flat");
    gtk_widget_set_tooltip_text(close, "Close the analysis pane (F6)");
    gtk_accessible_update_property(GTK_ACCESSIBLE(close), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Close the analysis pane", -1);
    gtk_widget_set_hexpand(switcher, TRUE);
    gtk_widget_set_halign(switcher, GTK_ALIGN_START);
    g_signal_connect(close, "clicked", G_CALLBACK(on_close), view);
    GtkWidget *along = gtk_scrolled_window_new(); /* many tabs must not widen the window */
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(along), GTK_POLICY_AUTOMATIC,
                                   GTK_POLICY_NEVER);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(along), switcher);
    gtk_widget_set_hexpand(along, TRUE);
    gtk_box_append(GTK_BOX(head), along);
    gtk_box_append(GTK_BOX(head), close);
    return head;
}

static void add_pages(struct view *view, struct analysis_pane *d)
{
    for (size_t i = 0; i < PAGE_COUNT; i++) {
        d->paged[i] = tab_new(view, analysis_pane_tabs[i]);
        gtk_stack_add_titled(GTK_STACK(d->stack), tab_widget(d->paged[i]),
                             analysis_pane_tabs[i]->name, analysis_pane_tabs[i]->title);
    }
    const char *last = view->viewer_settings.drawer_page;
    if (last && gtk_stack_get_child_by_name(GTK_STACK(d->stack), last))
        gtk_stack_set_visible_child_name(GTK_STACK(d->stack), last);
}

/* Handles F6 before GtkPaned does, which would move the focus. */
static void analysis_pane_on_key(struct view *view)
{
    GtkEventController *keys = gtk_shortcut_controller_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    gtk_shortcut_controller_add_shortcut(GTK_SHORTCUT_CONTROLLER(keys),
                                         gtk_shortcut_new(gtk_shortcut_trigger_parse_string("F6"),
                                                          gtk_named_action_new("win.drawer")));
    gtk_widget_add_controller(view->window, keys);
}

GtkWidget *analysis_pane_new(struct view *view, GtkWidget *picture)
{
    notifier_connect(&view->notifier, NOTIFY_MIDDLE, NOTIFY_ALL, analysis_pane_on_notification);
    struct analysis_pane *d = viewer_addons_add(&view->addons, &analysis_pane_addon);
    d->paned = gtk_paned_new(GTK_ORIENTATION_VERTICAL);
    d->box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    d->stack = gtk_stack_new();
    add_pages(view, d);
    gtk_box_append(GTK_BOX(d->box), head_new(view, d->stack));
    gtk_box_append(GTK_BOX(d->box), d->stack);
    gtk_widget_set_size_request(d->box, -1, HEIGHT_LEAST);
    gtk_widget_set_visible(d->box, FALSE);
    gtk_paned_set_start_child(GTK_PANED(d->paned), picture);
    gtk_paned_set_end_child(GTK_PANED(d->paned), d->box);
    gtk_paned_set_resize_end_child(GTK_PANED(d->paned), FALSE);
    gtk_paned_set_shrink_end_child(GTK_PANED(d->paned), FALSE);
    gtk_paned_set_shrink_start_child(GTK_PANED(d->paned), FALSE);
    analysis_pane_on_key(view);
    g_signal_connect(d->stack, "notify::visible-child-name", G_CALLBACK(analysis_pane_on_tab),
                     view);
    g_signal_connect(d->paned, "notify::max-position", G_CALLBACK(analysis_pane_on_height), view);
    g_signal_connect(d->paned, "notify::position", G_CALLBACK(on_dragged), view);
    return d->paned;
}
