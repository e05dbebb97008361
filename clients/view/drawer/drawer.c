#include "clients/view/drawer/drawer.h"

#include "clients/view/drawer/bands.h"
#include "clients/view/drawer/figured.h"
#include "clients/view/drawer/pages.h"
#include "clients/view/picture/view.h"

#define HEIGHT_LEAST 90

#define COUNT_PAGE(name) +1
enum { PAGE_COUNT = 0 PAGES(COUNT_PAGE) };

#define ROW(name) &page_##name,
static const struct page *const pages[] = {PAGES(ROW)};

struct drawer {
    GtkWidget *paned, *box, *stack;
    struct paged *paged[PAGE_COUNT];
    bool placed; /* it is as high as it was the last time */
};

struct paged *drawer_page(struct view *view)
{
    struct drawer *d = view->drawer;
    const char *name = gtk_stack_get_visible_child_name(GTK_STACK(d->stack));
    for (size_t i = 0; i < PAGE_COUNT; i++)
        if (g_strcmp0(pages[i]->name, name) == 0)
            return d->paged[i];
    return d->paged[0];
}

void drawer_tell(struct view *view, enum news news)
{
    struct drawer *d = view->drawer;
    if (news == NEWS_SETTINGS && view->settings.drawer != gtk_widget_get_visible(d->box)) {
        gtk_widget_set_visible(d->box, view->settings.drawer);
        if (view->settings.drawer)
            page_tell(drawer_page(view), NEWS_SHOWN, true);
    }
    for (size_t i = 0; i < PAGE_COUNT; i++)
        page_tell(d->paged[i], news, view->settings.drawer && d->paged[i] == drawer_page(view));
}

void drawer_clear(struct view *view)
{
    marked_clear(&view->marked);
    for (size_t i = 0; i < PAGE_COUNT; i++)
        page_clear(view->drawer->paged[i]);
}

/* ---- opening and closing ---- */

static void set(struct view *view, bool open)
{
    if (view->settings.drawer == open)
        return;
    view->settings.drawer = open;
    if (!open) {
        marked_clear(&view->marked);
        news_tell(&view->news, NEWS_HITS);
    }
    news_tell(&view->news, NEWS_SETTINGS);
}

void drawer_open(struct view *view, const char *page)
{
    if (page)
        gtk_stack_set_visible_child_name(GTK_STACK(view->drawer->stack), page);
    set(view, true);
    drawer_focus(view);
}

void drawer_focus(struct view *view) { page_focus(drawer_page(view)); }

void drawer_close(struct view *view)
{
    bool had = drawer_has_focus(view);
    set(view, false);
    if (had)
        gtk_widget_grab_focus(view->canvas);
}

bool drawer_has_focus(struct view *view)
{
    GtkWidget *at = gtk_window_get_focus(GTK_WINDOW(view->window));
    return at && gtk_widget_is_ancestor(at, view->drawer->box);
}

bool drawer_busy(struct view *view)
{
    return view->settings.drawer && (page_busy(drawer_page(view)) || bands_busy(view) ||
                                     figured_busy(view, page_of(drawer_page(view))->name));
}

/* ---- making it ---- */

static void on_page(GObject *object, GParamSpec *spec, gpointer data)
{
    struct view *view = data;
    const char *name = gtk_stack_get_visible_child_name(GTK_STACK(object));
    (void)spec;
    if (!name || !view->settings.drawer)
        return;
    g_free(view->settings.drawer_page);
    view->settings.drawer_page = g_strdup(name);
    page_tell(drawer_page(view), NEWS_SHOWN, true);
}

/* Its height is kept, not that of the picture above it. */
static void on_room(GObject *object, GParamSpec *spec, gpointer data)
{
    struct view *view = data;
    struct drawer *d = view->drawer;
    int all = gtk_widget_get_height(d->paned); /* of picture and drawer together */
    (void)spec;
    if (d->placed || !gtk_widget_get_visible(d->box) || all < 2 * HEIGHT_LEAST || all > 20000)
        return;
    d->placed = true;
    gtk_paned_set_position(GTK_PANED(object), MAX(all - view->settings.drawer_px, all / 2));
}

static void on_dragged(GObject *object, GParamSpec *spec, gpointer data)
{
    struct view *view = data;
    (void)spec;
    if (view->drawer->placed && gtk_widget_get_visible(view->drawer->box))
        view->settings.drawer_px = MAX(gtk_widget_get_height(view->drawer->paned) -
                                           gtk_paned_get_position(GTK_PANED(object)),
                                       HEIGHT_LEAST);
}

static void on_close(GtkButton *button, gpointer data)
{
    (void)button;
    drawer_close(data);
}

static GtkWidget *head_new(struct view *view, GtkWidget *stack)
{
    GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0),
              *switcher = gtk_stack_switcher_new(),
              *close = gtk_button_new_from_icon_name("window-close-symbolic");
    gtk_stack_switcher_set_stack(GTK_STACK_SWITCHER(switcher), GTK_STACK(stack));
    gtk_widget_add_css_class(switcher, "pages");
    gtk_widget_add_css_class(close, "flat");
    gtk_widget_set_tooltip_text(close, "Close the drawer (F6)");
    gtk_accessible_update_property(GTK_ACCESSIBLE(close), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Close the drawer", -1);
    gtk_widget_set_hexpand(switcher, TRUE);
    gtk_widget_set_halign(switcher, GTK_ALIGN_START);
    g_signal_connect(close, "clicked", G_CALLBACK(on_close), view);
    GtkWidget *along = gtk_scrolled_window_new(); /* many pages do not make the window wide */
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(along), GTK_POLICY_AUTOMATIC,
                                   GTK_POLICY_NEVER);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(along), switcher);
    gtk_widget_set_hexpand(along, TRUE);
    gtk_box_append(GTK_BOX(head), along);
    gtk_box_append(GTK_BOX(head), close);
    return head;
}

static void add_pages(struct view *view, struct drawer *d)
{
    for (size_t i = 0; i < PAGE_COUNT; i++) {
        d->paged[i] = page_new(view, pages[i]);
        gtk_stack_add_titled(GTK_STACK(d->stack), page_widget(d->paged[i]), pages[i]->name,
                             pages[i]->title);
    }
    const char *last = view->settings.drawer_page;
    if (last && gtk_stack_get_child_by_name(GTK_STACK(d->stack), last))
        gtk_stack_set_visible_child_name(GTK_STACK(d->stack), last);
}

/* Before those of GTK's that divide a window, for which F6 is another one's turn. */
static void take_key(struct view *view)
{
    GtkEventController *keys = gtk_shortcut_controller_new();
    gtk_event_controller_set_propagation_phase(keys, GTK_PHASE_CAPTURE);
    gtk_shortcut_controller_add_shortcut(GTK_SHORTCUT_CONTROLLER(keys),
                                         gtk_shortcut_new(gtk_shortcut_trigger_parse_string("F6"),
                                                          gtk_named_action_new("win.drawer")));
    gtk_widget_add_controller(view->window, keys);
}

GtkWidget *drawer_new(struct view *view, GtkWidget *picture)
{
    struct drawer *d = view->drawer = g_new0(struct drawer, 1);
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
    take_key(view);
    g_signal_connect(d->stack, "notify::visible-child-name", G_CALLBACK(on_page), view);
    g_signal_connect(d->paned, "notify::max-position", G_CALLBACK(on_room), view);
    g_signal_connect(d->paned, "notify::position", G_CALLBACK(on_dragged), view);
    return d->paned;
}
