#include "clients/viewer/state/page_switcher.h"

struct page_switcher {
    GtkWidget *tabs;
    GtkAdjustment *along;
    GtkWidget *stack; /* set to NULL when it is destroyed */
    guint idle;
};

/* Sets *at to the place of the tab of the shown page among all tabs; returns false if there is none
 * or the tabs have no places yet. */
static bool page_switcher_place(GtkWidget *tabs, graphene_rect_t *at)
{
    for (GtkWidget *tab = gtk_widget_get_first_child(tabs); tab;
         tab = gtk_widget_get_next_sibling(tab))
        if (gtk_widget_get_state_flags(tab) & GTK_STATE_FLAG_CHECKED)
            return gtk_widget_compute_bounds(tab, tabs, at);
    return false;
}

static gboolean page_switcher_on_idle(gpointer data)
{
    struct page_switcher *s = data;
    graphene_rect_t at;
    s->idle = 0;
    if (page_switcher_place(s->tabs, &at))
        gtk_adjustment_clamp_page(s->along, at.origin.x, at.origin.x + at.size.width);
    return G_SOURCE_REMOVE;
}

/* Scrolls once the tabs have their places. */
static void page_switcher_scroll(struct page_switcher *s)
{
    if (!s->idle)
        s->idle = g_idle_add_full(G_PRIORITY_HIGH, page_switcher_on_idle, s, NULL);
}

static void page_switcher_on_page(GObject *object, GParamSpec *spec, gpointer data)
{
    (void)object;
    (void)spec;
    page_switcher_scroll(data);
}

static void page_switcher_on_size(GtkAdjustment *adjustment, gpointer data)
{
    (void)adjustment;
    page_switcher_scroll(data);
}

static void page_switcher_on_destroy(GtkWidget *widget, gpointer data)
{
    struct page_switcher *s = data;
    (void)widget;
    g_clear_handle_id(&s->idle, g_source_remove);
    g_signal_handlers_disconnect_by_data(s->along, s);
    g_object_unref(s->along);
    if (s->stack) {
        g_signal_handlers_disconnect_by_data(s->stack, s);
        g_object_remove_weak_pointer(G_OBJECT(s->stack), (gpointer *)&s->stack);
    }
    g_free(s);
}

bool page_switcher_is_in_view(GtkWidget *switcher)
{
    GtkAdjustment *along = gtk_scrolled_window_get_hadjustment(GTK_SCROLLED_WINDOW(switcher));
    GtkWidget *view = gtk_scrolled_window_get_child(GTK_SCROLLED_WINDOW(switcher));
    double from = gtk_adjustment_get_value(along), to = from + gtk_adjustment_get_page_size(along);
    graphene_rect_t at;
    return page_switcher_place(gtk_widget_get_first_child(view), &at) && at.origin.x >= from - 1 &&
           at.origin.x + at.size.width <= to + 1;
}

GtkWidget *page_switcher_new(GtkWidget *stack)
{
    struct page_switcher *s = g_new0(struct page_switcher, 1);
    s->stack = stack;
    s->tabs = gtk_stack_switcher_new();
    GtkWidget *scrolled = gtk_scrolled_window_new(); /* many tabs must not widen the window */
    gtk_stack_switcher_set_stack(GTK_STACK_SWITCHER(s->tabs), GTK_STACK(stack));
    gtk_widget_add_css_class(s->tabs, "pages");
    gtk_widget_add_css_class(scrolled, "pages-along");
    gtk_widget_set_halign(s->tabs, GTK_ALIGN_START);
    gtk_scrolled_window_set_policy(GTK_SCROLLED_WINDOW(scrolled), GTK_POLICY_EXTERNAL,
                                   GTK_POLICY_NEVER);
    gtk_scrolled_window_set_child(GTK_SCROLLED_WINDOW(scrolled), s->tabs);
    g_object_add_weak_pointer(G_OBJECT(stack), (gpointer *)&s->stack);
    g_signal_connect(stack, "notify::visible-child-name", G_CALLBACK(page_switcher_on_page), s);
    s->along = g_object_ref(gtk_scrolled_window_get_hadjustment(GTK_SCROLLED_WINDOW(scrolled)));
    g_signal_connect(s->along, "changed", G_CALLBACK(page_switcher_on_size), s);
    g_signal_connect(scrolled, "destroy", G_CALLBACK(page_switcher_on_destroy), s);
    return scrolled;
}
