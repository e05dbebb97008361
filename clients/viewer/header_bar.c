#include "clients/viewer/header_bar.h"

#include "clients/viewer/focus_return.h"
#include "clients/viewer/window_menu.h"
#include "clients/viewer/sidebar/blocked_panel.h"
#include "clients/viewer/state/icon_button.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/run_chooser.h"
#include "wire/layout_results.h"
#include "wire/trace_view.h"

struct header_bar {
    GtkWidget *title, *subtitle, *badge;
};

static const struct viewer_addon header_bar_addon = {"header_bar", sizeof(struct header_bar)};

static struct header_bar *header_bar_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &header_bar_addon);
}

/* Returns the source, the number of discarded events, and of lines without a row; NULL: neither
 * exists. */
static char *header_bar_missing_data_text(const struct view *view)
{
    const struct window_info *w = &view->scene_cache.window;
    const char *name = view->server_link.source.name ? view->server_link.source.name : "";
    if (!w->discarded && !w->idle_lines && !w->left_lines)
        return NULL;
    GString *s = g_string_new(name);
    if (w->discarded)
        g_string_append_printf(s, " — %" G_GUINT64_FORMAT " event%s discarded, the oldest",
                               (guint64)w->discarded, w->discarded == 1 ? " was" : "s were");
    if (w->idle_lines)
        g_string_append_printf(s, " — %" G_GUINT64_FORMAT " lines without events hidden",
                               (guint64)w->idle_lines);
    if (w->left_lines)
        g_string_append_printf(s, " — %" G_GUINT64_FORMAT " lines not shown (too many)",
                               (guint64)w->left_lines);
    return g_string_free(s, FALSE);
}

void header_bar_show_titles(struct view *view)
{
    const struct run_info *run = &view_metadata(view)->run;
    bool has = view->server_link.has_run && run->name;
    char *title = has ? g_strdup_printf("%s%s", run->name, run->connected ? " — live" : "")
                      : g_strdup("Poet");
    struct header_bar *bar = header_bar_find(view);
    gtk_label_set_text(GTK_LABEL(bar->title), title);
    char *source = has ? header_bar_missing_data_text(view) : NULL;
    gtk_label_set_text(GTK_LABEL(bar->subtitle), source ? source
                                                 : view->server_link.source.name
                                                     ? view->server_link.source.name
                                                     : "");
    g_free(source);
    gtk_window_set_title(GTK_WINDOW(view->window), title);
    g_free(title);
}

static void header_bar_show_waits(struct view *view)
{
    unsigned count;
    enum blocked_worst worst = blocked_panel_worst(view, &count);
    GtkWidget *badge = header_bar_find(view)->badge;
    char *text = worst == BLOCKED_DEADLOCK      ? g_strdup("Deadlock")
                 : worst == BLOCKED_HANG        ? g_strdup("Hang")
                 : worst == BLOCKED_LIKELY_HANG ? g_strdup("Hang?")
                                                : g_strdup_printf("%u blocked", count);
    if (g_strcmp0(gtk_button_get_label(GTK_BUTTON(badge)), text) != 0)
        gtk_button_set_label(GTK_BUTTON(badge), text);
    if (worst >= BLOCKED_LIKELY_HANG)
        gtk_widget_add_css_class(badge, "destructive-action");
    else
        gtk_widget_remove_css_class(badge, "destructive-action");
    gtk_widget_set_visible(badge, worst != BLOCKED_NONE);
    g_free(text);
}

/* Creates the button that shows the worst state of blocked threads, and opens their panel. */
static GtkWidget *badge_new(void)
{
    GtkWidget *badge = gtk_button_new_with_label("");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(badge), "win.show-waiting");
    gtk_widget_set_tooltip_text(badge, "Blocked threads and diagnosis (Alt+W)");
    gtk_widget_set_visible(badge, FALSE);
    return badge;
}

static GtkWidget *header_bar_new_toggle(const char *text, const char *action, const char *tooltip)
{
    GtkWidget *b = gtk_toggle_button_new_with_label(text);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(b), action);
    gtk_widget_set_tooltip_text(b, tooltip);
    return b;
}

static GtkWidget *toggle_icon(const char *icon, const char *action, const char *tooltip)
{
    GtkWidget *b = gtk_toggle_button_new();
    gtk_button_set_icon_name(GTK_BUTTON(b), icon);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(b), action);
    gtk_widget_set_tooltip_text(b, tooltip);
    gtk_accessible_update_property(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_PROPERTY_LABEL, tooltip, -1);
    return b;
}

static void header_bar_on_notification(struct view *view, enum notification what)
{
    if (what == NOTIFY_WAITS)
        header_bar_show_waits(view);
    else
        header_bar_show_titles(view);
}

GtkWidget *header_bar_new(struct view *view)
{
    notifier_connect(&view->notifier, NOTIFY_LAST,
                     NOTIFY_BIT(NOTIFY_WAITS) | NOTIFY_BIT(NOTIFY_DIAGRAM),
                     header_bar_on_notification);
    GtkWidget *header = gtk_header_bar_new(), *titles = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0),
              *menu = gtk_menu_button_new();
    struct header_bar *bar = viewer_addons_add(&view->addons, &header_bar_addon);
    bar->title = gtk_label_new("Poet");
    bar->subtitle = gtk_label_new("");
    gtk_widget_add_css_class(bar->title, "title");
    gtk_widget_add_css_class(bar->subtitle, "subtitle");
    gtk_label_set_ellipsize(GTK_LABEL(bar->subtitle), PANGO_ELLIPSIZE_MIDDLE);
    gtk_widget_set_valign(titles, GTK_ALIGN_CENTER);
    gtk_box_append(GTK_BOX(titles), bar->title);
    gtk_box_append(GTK_BOX(titles), bar->subtitle);
    gtk_header_bar_set_title_widget(GTK_HEADER_BAR(header), titles);
    GMenuModel *model = window_menu_new(view);
    gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(menu), model);
    gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(menu), "open-menu-symbolic");
    gtk_menu_button_set_primary(GTK_MENU_BUTTON(menu), TRUE);
    gtk_widget_set_tooltip_text(menu, "Menu (F10)");
    gtk_accessible_update_property(GTK_ACCESSIBLE(menu), GTK_ACCESSIBLE_PROPERTY_LABEL, "Menu", -1);
    g_object_unref(model);
    g_signal_connect_swapped(menu, "notify::active", G_CALLBACK(focus_return_to_diagram), view);
    GtkWidget *follow = header_bar_new_toggle("Follow", "win.follow", "Follow the live run (End)");
    bar->badge = badge_new();
    GtkWidget *start[] = {
        icon_button_new("document-open-symbolic", "win.open", "Open trace (Ctrl+O)"),
        icon_button_new("edit-undo-symbolic", "win.undo", "Undo view change (Ctrl+Z)"),
        icon_button_new("edit-redo-symbolic", "win.redo", "Redo view change (Ctrl+Shift+Z)"),
        follow,
        run_chooser_new(view),
        bar->badge};
    GtkWidget *end[] = {
        menu,
        icon_button_new("edit-find-symbolic", "win.find", "Find (Ctrl+F)"),
        header_bar_new_toggle("Details", "win.panel", "Side panel (F9)"),
        toggle_icon("view-list-symbolic", "win.drawer", "Analysis pane (F6)"),
        header_bar_new_toggle("Time scale", "win.time", "Toggle logical order / time scale (T)"),
        icon_button_new("zoom-fit-best-symbolic", "win.fit", "Zoom to fit (*)"),
        icon_button_new("zoom-in-symbolic", "win.zoom-in", "Zoom in (+)"),
        icon_button_new("zoom-out-symbolic", "win.zoom-out", "Zoom out (-)")};
    for (size_t i = 0; i < G_N_ELEMENTS(start); i++)
        gtk_header_bar_pack_start(GTK_HEADER_BAR(header), start[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(end); i++)
        gtk_header_bar_pack_end(GTK_HEADER_BAR(header), end[i]);
    return header;
}
