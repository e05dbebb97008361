/* The header bar: the name of the source, the choice of its run, buttons for common actions, and
 * the window's menu. */
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/viewer_window.h"

#include "clients/viewer/actions.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/focus_return.h"
#include "clients/viewer/sidebar/panel.h"
#include "clients/viewer/state/icon_button.h"
#include "clients/viewer/state/server_link.h"
#include "clients/viewer/state/status_line.h"
#include "wire/layout_results.h"
#include "wire/message.h"
#include "wire/request.h"
#include "wire/trace_view.h"

#include <stdlib.h>

/* ---- list ---- */

struct run_chooser {
    GtkWidget *choice;
    char *names; /* of the runs, line by line, as received */
    bool moving; /* a change by the program, not by the user */
    bool newer_pending; /* there is a newer run, which was announced but is not shown */
};

static const struct viewer_addon run_chooser_addon = {"run_chooser", sizeof(struct run_chooser)};

static struct run_chooser *run_chooser_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &run_chooser_addon);
}

static void add_run(struct view *view, struct decoder *in)
{
    struct run_info run;
    decode_run_info(in, &run);
    struct run_chooser *chooser = run_chooser_find(view);
    if (decoder_finish(in)) {
        char *more = g_strdup_printf("%s%u %s%s\n", chooser->names ? chooser->names : "",
                                     run.number, run.name, run.connected ? " (running)" : "");
        g_free(chooser->names);
        chooser->names = more;
    }
    run_info_free(&run);
}

static void show_runs(struct view *view)
{
    struct run_chooser *chooser = run_chooser_find(view);
    char **names = g_strsplit(chooser->names ? chooser->names : "", "\n", -1);
    guint n = g_strv_length(names);
    if (n)
        g_clear_pointer(&names[n - 1], g_free);
    GtkStringList *list = gtk_string_list_new((const char *const *)names);
    chooser->moving = true;
    gtk_drop_down_set_model(GTK_DROP_DOWN(chooser->choice), G_LIST_MODEL(list));
    for (guint i = 0; names[i]; i++)
        if (strtoul(names[i], NULL, 10) == view_metadata(view)->run.number)
            gtk_drop_down_set_selected(GTK_DROP_DOWN(chooser->choice), i);
    chooser->moving = false;
    gtk_widget_set_visible(chooser->choice, n > 2);
    g_object_unref(list);
    g_strfreev(names);
    g_clear_pointer(&chooser->names, g_free);
}

static void run_chooser_receive_runs(void *user, const struct response_chunk *answer)
{
    if (answer->part == RESPONSE_RUN)
        add_run(user, answer->in);
    if (answer->last)
        show_runs(user);
}

void run_chooser_request(struct view *view)
{
    g_clear_pointer(&run_chooser_find(view)->names, g_free);
    server_link_request(&view->server_link, REQUEST_RUNS, NULL, run_chooser_receive_runs, view);
}

static void on_run_chosen(GObject *object, GParamSpec *spec, gpointer data)
{
    struct view *view = data;
    guint i = gtk_drop_down_get_selected(GTK_DROP_DOWN(object));
    (void)spec;
    GtkStringObject *item = gtk_drop_down_get_selected_item(GTK_DROP_DOWN(object));
    if (run_chooser_find(view)->moving || i == GTK_INVALID_LIST_POSITION || !item)
        return;
    char *number = g_strdup_printf("%lu", strtoul(gtk_string_object_get_string(item), NULL, 10));
    server_link_select(&view->server_link, number);
    g_free(number);
}

/* Lets a newer run replace the present one only where nothing is lost: with nothing selected, while
 * following its end or in the view with which it opened. */
static void run_chooser_watch(struct view *view)
{
    const struct view_state *p = &view->viewport.place;
    const struct view_history *history = &view->history;
    bool opened = !history->back_count && !history->forth_count,
         unchanged = (p->follow || opened) && !p->selected.line;
    bool replaceable = !view->server_link.has_run || (unchanged && view->server_link.newest &&
                                                      !run_chooser_find(view)->newer_pending);
    server_link_set_feed(&view->server_link, replaceable ? FEED_ON : FEED_STAY);
}

static void run_chooser_on_notification(struct view *view, enum notification what)
{
    (void)what;
    run_chooser_watch(view);
}

static GtkWidget *run_chooser_new(struct view *view)
{
    notifier_connect(&view->notifier, NOTIFY_LAST,
                     NOTIFY_BIT(NOTIFY_PLACE) | NOTIFY_BIT(NOTIFY_SELECTION) |
                         NOTIFY_BIT(NOTIFY_ACTIONS),
                     run_chooser_on_notification);
    struct run_chooser *chooser = viewer_addons_add(&view->addons, &run_chooser_addon);
    GtkWidget *choice = chooser->choice = gtk_drop_down_new(NULL, NULL);
    gtk_widget_set_visible(choice, FALSE);
    gtk_widget_set_tooltip_text(choice, "Runs of this server");
    g_signal_connect(choice, "notify::selected", G_CALLBACK(on_run_chosen), view);
    return choice;
}

/* ---- newer runs ---- */

static void run_chooser_select_newest(void *user)
{
    struct view *view = user;
    server_link_select(&view->server_link, "");
}

void run_chooser_on_begun(struct view *view, const char *name)
{
    char *text = g_strdup_printf("%s started", name);
    run_chooser_find(view)->newer_pending = true;
    toast_show(&view->toast, text, "_Show", run_chooser_select_newest, view);
    run_chooser_request(view);
    g_free(text);
}

void run_chooser_on_shown(struct view *view)
{
    run_chooser_find(view)->newer_pending = false;
    toast_hide(&view->toast);
    run_chooser_watch(view);
}

/* ---- menu of the window ---- */

static GMenu *window_menu_new_section(const char *const *names)
{
    GMenu *menu = g_menu_new();
    for (; *names; names++) {
        char *full = g_strdup_printf("win.%s", *names);
        GMenuItem *item = g_menu_item_new(action_title(*names), full);
        char *key = action_key(*names);
        if (key)
            g_menu_item_set_attribute(item, "accel", "s", key);
        g_menu_append_item(menu, item);
        g_object_unref(item);
        g_free(key);
        g_free(full);
    }
    return menu;
}

void window_menu_update_recent(struct view *view)
{
    g_menu_remove_all(view->recent);
    for (char **r = view->viewer_settings.recent; r && *r; r++) {
        GMenuItem *item = g_menu_item_new(*r, NULL);
        g_menu_item_set_action_and_target(item, "win.recent", "s", *r);
        g_menu_append_item(view->recent, item);
        g_object_unref(item);
    }
}

static GMenuModel *window_menu_new(struct view *view)
{
    static const char *const file[] = {"open", "connect", "latest",     "default",
                                       "run",  "measure", "save-trace", NULL},
                             *const out[] = {"save",       "share",     "print",
                                             "copy-image", "copy-text", "copy-command",
                                             "save-view",  "load-view", NULL},
                             *const lines[] = {"seek-rows",
                                               "show-all",
                                               "only-tied",
                                               "least-crossing",
                                               "busy-rows",
                                               "fold",
                                               "cluster-process",
                                               "cluster-kind",
                                               "cluster-name",
                                               "cluster-description",
                                               "cluster-pattern",
                                               "hide-pattern",
                                               NULL},
                             *const look[] = {"follow",     "time",         "relations",
                                              "hide-past",  "hide-future",  "hide-concurrent",
                                              "panel",      "drawer",       "map",
                                              "legend",     "order-arrows", "critical-path",
                                              "tint-waits", "vertical",     "dark",
                                              NULL},
                             *const end[] = {"settings", "shortcuts", "help", "about",
                                             "close",    "quit",      NULL};
    GMenu *menu = g_menu_new(),
          *parts[] = {window_menu_new_section(file), window_menu_new_section(out),
                      window_menu_new_section(lines), window_menu_new_section(look),
                      window_menu_new_section(end)};
    view->recent = g_menu_new();
    window_menu_update_recent(view);
    g_menu_append_section(menu, NULL, G_MENU_MODEL(parts[0]));
    g_menu_append_submenu(menu, "Recent", G_MENU_MODEL(view->recent));
    g_menu_append_section(menu, NULL, G_MENU_MODEL(parts[1]));
    g_menu_append_submenu(menu, "Lines", G_MENU_MODEL(parts[2]));
    g_menu_append_submenu(menu, "View", G_MENU_MODEL(parts[3]));
    g_menu_append_section(menu, NULL, G_MENU_MODEL(parts[4]));
    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
        g_object_unref(parts[i]);
    return G_MENU_MODEL(menu);
}

/* ---- header bar ---- */

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
                 : worst == BLOCKED_VIOLATION   ? g_strdup("Rule violation")
                 : worst == BLOCKED_LIKELY_HANG ? g_strdup("Hang?")
                 : worst == BLOCKED_ASLEEP      ? g_strdup_printf("%u asleep", count)
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
static GtkWidget *header_bar_new_badge(void)
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

static GtkWidget *header_bar_new_icon_toggle(const char *icon, const char *action,
                                             const char *tooltip)
{
    GtkWidget *b = gtk_toggle_button_new();
    gtk_button_set_icon_name(GTK_BUTTON(b), icon);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(b), action);
    gtk_widget_set_tooltip_text(b, tooltip);
    accessible_name_set(b, tooltip);
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
    accessible_name_set(menu, "Menu");
    g_object_unref(model);
    g_signal_connect_swapped(menu, "notify::active", G_CALLBACK(focus_return_to_diagram), view);
    GtkWidget *follow = header_bar_new_toggle("Follow", "win.follow", "Follow the live run (End)");
    bar->badge = header_bar_new_badge();
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
        header_bar_new_icon_toggle("view-list-symbolic", "win.drawer", "Analysis pane (F6)"),
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
