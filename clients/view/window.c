/* The window: header bar, picture and panel, map, status line; what it says, and its small dialogs. */
#include "clients/view/view.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- what it says ---- */

#define BEHIND_NS 1000000000u /* what an order may be behind without a word */

/* What was said last; and how far the order is behind, as long as it is. */
static void show_said(struct view *view)
{
    const char *said = view->said ? view->said : "";
    view->says_behind = view->link.behind_ns >= BEHIND_NS;
    char *text = view->says_behind ? g_strdup_printf("%s%sordered up to %.1f s ago", said, *said ? " — " : "",
                                                     (double)view->link.behind_ns / 1e9)
                                   : g_strdup(said);
    gtk_label_set_text(GTK_LABEL(view->status), text);
    g_free(text);
}

void window_say(struct view *view, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    g_free(view->said);
    view->said = g_strdup_vprintf(format, ap);
    va_end(ap);
    show_said(view);
}

void window_behind(struct view *view)
{
    if (view->says_behind || view->link.behind_ns >= BEHIND_NS)
        show_said(view);
}

static void show_banner(struct view *view, const char *button, const char *text, enum banner what)
{
    view->banner_for = what;
    gtk_label_set_text(GTK_LABEL(view->banner_text), text);
    gtk_widget_set_tooltip_text(view->banner_text, text);
    gtk_widget_set_visible(view->banner_button, button != NULL);
    if (button)
        gtk_button_set_label(GTK_BUTTON(view->banner_button), button);
    gtk_widget_set_visible(view->banner, TRUE);
}

/* Something went wrong; with a button, it can be tried again. */
void window_trouble(struct view *view, const char *button, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    char *text = g_strdup_vprintf(format, ap);
    va_end(ap);
    show_banner(view, button, text, BANNER_OPEN);
    window_say(view, "%s", text);
    g_free(text);
}

void window_offer(struct view *view, const char *button, const char *text)
{
    show_banner(view, button, text, BANNER_ARRANGE);
}

/* The source, and how many lines have no row; NULL: all that are drawn have. */
static char *said_of_lines(const struct view *view)
{
    const struct shown_window *w = &view->stage.window;
    const char *name = view->link.source.name ? view->link.source.name : "";
    if (!w->idle_lines && !w->left_lines)
        return NULL;
    GString *s = g_string_new(name);
    if (w->idle_lines)
        g_string_append_printf(s, " — %" G_GUINT64_FORMAT " lines have no event here", (guint64)w->idle_lines);
    if (w->left_lines)
        g_string_append_printf(s, " — %" G_GUINT64_FORMAT " lines that have some find no room",
                               (guint64)w->left_lines);
    return g_string_free(s, FALSE);
}

void window_titles(struct view *view)
{
    const struct shown_run *run = &the_book(view)->run;
    bool has = view->link.has_run && run->name;
    char *title = has ? g_strdup_printf("%s%s", run->name, run->connected ? " — live" : "")
                      : g_strdup("Poet");
    gtk_label_set_text(GTK_LABEL(view->title), title);
    char *source = has ? said_of_lines(view) : NULL;
    gtk_label_set_text(GTK_LABEL(view->subtitle), source ? source : view->link.source.name ? view->link.source.name : "");
    g_free(source);
    gtk_window_set_title(GTK_WINDOW(view->window), title);
    g_free(title);
}

void window_empty(struct view *view, const char *title, const char *text)
{
    if (title)
        gtk_label_set_text(GTK_LABEL(view->empty_title), title);
    if (text)
        gtk_label_set_text(GTK_LABEL(view->empty_text), text);
    gtk_stack_set_visible_child_name(GTK_STACK(view->stack), title ? "empty" : "picture");
    if (!title)
        gtk_widget_grab_focus(view->canvas);
}

static gboolean on_pulse(gpointer data)
{
    struct view *view = data;
    gtk_progress_bar_pulse(GTK_PROGRESS_BAR(view->progress));
    return G_SOURCE_CONTINUE;
}

/* share < 0: nobody knows how long it takes. */
void window_busy(struct view *view, const char *what, double share)
{
    gtk_widget_set_visible(gtk_widget_get_parent(view->progress), what != NULL);
    if (view->pulse)
        g_source_remove(view->pulse);
    view->pulse = 0;
    if (!what) {
        g_clear_object(&view->exporting);
        return;
    }
    gtk_progress_bar_set_text(GTK_PROGRESS_BAR(view->progress), what);
    if (share >= 0)
        gtk_progress_bar_set_fraction(GTK_PROGRESS_BAR(view->progress), share);
    else
        view->pulse = g_timeout_add(100, on_pulse, view);
}

static void on_cancel(GtkButton *button, gpointer data)
{
    struct view *view = data;
    (void)button;
    if (view->exporting) {
        g_subprocess_send_signal(view->exporting, SIGINT);
    } else if (fetch_runs(view)) {
        fetch_cancel(view);
    } else if (view->link.impatient) {
        link_give_up(view);
    } else if (view->link.opening && view->link.cancel) {
        g_cancellable_cancel(view->link.cancel);
        view->link.opening = false;
    }
    window_busy(view, NULL, 0);
    window_say(view, "Cancelled");
}

/* ---- dialogs ---- */

static void on_open(GtkNativeDialog *dialog, int response, gpointer data)
{
    if (response == GTK_RESPONSE_ACCEPT) {
        GFile *file = gtk_file_chooser_get_file(GTK_FILE_CHOOSER(dialog));
        char *path = g_file_get_path(file);
        if (path)
            link_open(data, path);
        g_free(path);
        g_object_unref(file);
    }
    g_object_unref(dialog);
}

GtkFileChooser *window_chooser(struct view *view, const char *title, GtkFileChooserAction action,
                               const char *name)
{
    GtkFileChooserNative *dialog =
        gtk_file_chooser_native_new(title, GTK_WINDOW(view->window), action,
                                    action == GTK_FILE_CHOOSER_ACTION_SAVE ? "_Save" : "_Open", "_Cancel");
    char *directory = g_get_current_dir();
    GFile *here = g_file_new_for_path(directory);
    gtk_file_chooser_set_current_folder(GTK_FILE_CHOOSER(dialog), here, NULL);
    if (name)
        gtk_file_chooser_set_current_name(GTK_FILE_CHOOSER(dialog), name);
    g_object_unref(here);
    g_free(directory);
    return GTK_FILE_CHOOSER(dialog);
}

void window_open_dialog(struct view *view)
{
    GtkFileChooser *dialog = window_chooser(view, "Open a trace", GTK_FILE_CHOOSER_ACTION_OPEN, NULL);
    GtkFileFilter *filter = gtk_file_filter_new();
    gtk_file_filter_set_name(filter, "Poet traces (*.poet)");
    gtk_file_filter_add_pattern(filter, "*.poet");
    gtk_file_chooser_add_filter(dialog, filter);
    g_object_unref(filter);
    g_signal_connect(dialog, "response", G_CALLBACK(on_open), view);
    gtk_native_dialog_show(GTK_NATIVE_DIALOG(dialog));
}

/* A small window that asks for one line of text. */
struct question {
    struct view *view;
    void (*answer)(struct view *view, const char *text);
};

static void on_entered(GtkEntry *entry, gpointer data)
{
    struct question *q = data;
    GtkWidget *window = GTK_WIDGET(gtk_widget_get_root(GTK_WIDGET(entry)));
    char *text = g_strstrip(g_strdup(gtk_editable_get_text(GTK_EDITABLE(entry))));
    q->answer(q->view, text);
    g_free(text);
    gtk_window_destroy(GTK_WINDOW(window));
}

static gboolean on_escape(GtkEventControllerKey *keys, guint key, guint code, GdkModifierType state,
                                gpointer window)
{
    (void)keys;
    (void)code;
    (void)state;
    if (key != GDK_KEY_Escape)
        return FALSE;
    gtk_window_destroy(GTK_WINDOW(window));
    return TRUE;
}

void window_closes_on_escape(GtkWidget *window)
{
    GtkEventController *keys = gtk_event_controller_key_new();
    g_signal_connect(keys, "key-pressed", G_CALLBACK(on_escape), window);
    gtk_widget_add_controller(window, keys);
}

static void ask(struct view *view, const char *title, const char *words, const char *placeholder,
                void (*answer)(struct view *view, const char *text))
{
    GtkWidget *window = gtk_window_new(), *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 8),
              *label = gtk_label_new(words), *entry = gtk_entry_new();
    struct question *q = g_new(struct question, 1);
    *q = (struct question){view, answer};
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_entry_set_placeholder_text(GTK_ENTRY(entry), placeholder);
    gtk_window_set_title(GTK_WINDOW(window), title);
    gtk_window_set_transient_for(GTK_WINDOW(window), GTK_WINDOW(view->window));
    gtk_window_set_modal(GTK_WINDOW(window), TRUE);
    gtk_widget_set_size_request(entry, 420, -1);
    g_object_set(box, "margin-top", 14, "margin-bottom", 14, "margin-start", 14, "margin-end", 14, NULL);
    gtk_box_append(GTK_BOX(box), label);
    gtk_box_append(GTK_BOX(box), entry);
    gtk_window_set_child(GTK_WINDOW(window), box);
    g_object_set_data_full(G_OBJECT(entry), "question", q, g_free);
    g_signal_connect(entry, "activate", G_CALLBACK(on_entered), q);
    window_closes_on_escape(window);
    gtk_window_present(GTK_WINDOW(window));
}

static void connect_to(struct view *view, const char *what)
{
    if (*what && !endpoint_is(what) && !g_str_has_prefix(what, "ssh:"))
        window_say(view, "%s: write unix:PATH, tcp:HOST:PORT or ssh:HOST[:FILE]", what);
    else
        link_open(view, *what ? what : NULL);
}

void window_connect_dialog(struct view *view)
{
    char endpoint[400] = "";
    struct error error;
    endpoint_default(endpoint, sizeof endpoint, &error);
    ask(view, "Connect to a server", "unix:PATH, tcp:HOST:PORT, or ssh:HOST[:FILE] for another machine;\n"
                                     "empty for the default server", endpoint, connect_to);
}

/* "2:17", "40%", "1.5ms", "12345" (a position), "#3" (a bookmark) */
void window_go(struct view *view, const char *text)
{
    struct ref at;
    char *end;
    double v = g_ascii_strtod(text, &end);
    static const struct {
        const char *unit;
        double ns;
    } units[] = {{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    guint64 mark = *text == '#' ? g_ascii_strtoull(text + 1, NULL, 10) : 0;
    if (mark && bookmarks_go(view, mark))
        return;
    if (ref_parse(text, &at)) {
        const struct book *book = the_book(view); /* of many lines not all are known yet */
        bool there = at.line && (book->some ? at.line <= book->line_count : book_line(book, at.line) != NULL);
        if (there && !(at.line & HIDDEN_LINE))
            motion_to_event(view, at, NO_POSITION);
        else
            window_say(view, "%s: there is no such line", text);
        return;
    }
    g_strchug(end);
    if (end != text && strcmp(end, "%") == 0) {
        motion_to_position(view, (uint64_t)(CLAMP(v, 0, 100) / 100 * (double)view->link.count));
        return;
    }
    for (size_t i = 0; end != text && i < G_N_ELEMENTS(units); i++)
        if (strcmp(end, units[i].unit) == 0) {
            motion_to_time(view, (int64_t)(v * units[i].ns));
            return;
        }
    if (end != text && !*end && v >= 0)
        motion_to_position(view, (uint64_t)v);
    else
        window_say(view, "%s: write an event (2:17), a time (1.5ms), a share (40%%), a position or a "
                         "bookmark (#2)", text);
}

void window_go_dialog(struct view *view)
{
    if (view->link.has_run)
        ask(view, "Go to", "An event (2:17), a time (1.5ms), a share of the run (40%),\n"
                           "a position in the log (12345) or a bookmark (#2)", "2:17", window_go);
}

void window_cluster_dialog(struct view *view)
{
    if (view->link.has_run)
        ask(view, "Join lines", "Lines whose names match become one row: * stands for anything, ? for one letter",
            "worker*", rows_cluster_pattern);
}

void window_hide_dialog(struct view *view)
{
    if (view->link.has_run)
        ask(view, "Hide lines", "Lines whose names match: * stands for anything, ? for one letter", "worker*",
            rows_hide_pattern);
}

/* ---- widgets ---- */

GtkWidget *window_icon_button(const char *icon, const char *action, const char *tooltip)
{
    GtkWidget *b = gtk_button_new_from_icon_name(icon);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(b), action);
    gtk_widget_set_tooltip_text(b, tooltip);
    gtk_accessible_update_property(GTK_ACCESSIBLE(b), GTK_ACCESSIBLE_PROPERTY_LABEL, tooltip, -1);
    return b;
}

static GtkWidget *toggle(const char *text, const char *action, const char *tooltip)
{
    GtkWidget *b = gtk_toggle_button_new_with_label(text);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(b), action);
    gtk_widget_set_tooltip_text(b, tooltip);
    return b;
}

static void on_run_chosen(GObject *object, GParamSpec *spec, gpointer data)
{
    struct view *view = data;
    guint i = gtk_drop_down_get_selected(GTK_DROP_DOWN(object));
    (void)spec;
    GtkStringObject *item = gtk_drop_down_get_selected_item(GTK_DROP_DOWN(object));
    if (view->moving || i == GTK_INVALID_LIST_POSITION || !item)
        return;
    char *number = g_strdup_printf("%lu", strtoul(gtk_string_object_get_string(item), NULL, 10));
    link_select(view, number);
    g_free(number);
}

static GtkWidget *header_new(struct view *view)
{
    GtkWidget *header = gtk_header_bar_new(), *titles = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0),
              *menu = gtk_menu_button_new();
    view->title = gtk_label_new("Poet");
    view->subtitle = gtk_label_new("");
    gtk_widget_add_css_class(view->title, "title");
    gtk_widget_add_css_class(view->subtitle, "subtitle");
    gtk_label_set_ellipsize(GTK_LABEL(view->subtitle), PANGO_ELLIPSIZE_MIDDLE);
    gtk_widget_set_valign(titles, GTK_ALIGN_CENTER);
    gtk_box_append(GTK_BOX(titles), view->title);
    gtk_box_append(GTK_BOX(titles), view->subtitle);
    gtk_header_bar_set_title_widget(GTK_HEADER_BAR(header), titles);
    GMenuModel *model = actions_menu(view);
    gtk_menu_button_set_menu_model(GTK_MENU_BUTTON(menu), model);
    gtk_menu_button_set_icon_name(GTK_MENU_BUTTON(menu), "open-menu-symbolic");
    gtk_menu_button_set_primary(GTK_MENU_BUTTON(menu), TRUE);
    gtk_widget_set_tooltip_text(menu, "Menu (F10)");
    gtk_accessible_update_property(GTK_ACCESSIBLE(menu), GTK_ACCESSIBLE_PROPERTY_LABEL, "Menu", -1);
    g_object_unref(model);
    view->follow_button = toggle("Follow", "win.follow", "Follow the run as it grows (End)");
    view->runs = gtk_drop_down_new(NULL, NULL);
    gtk_widget_set_visible(view->runs, FALSE);
    gtk_widget_set_tooltip_text(view->runs, "The runs of this server");
    g_signal_connect(view->runs, "notify::selected", G_CALLBACK(on_run_chosen), view);
    GtkWidget *start[] = {window_icon_button("document-open-symbolic", "win.open", "Open a trace (Ctrl+O)"),
                          window_icon_button("edit-undo-symbolic", "win.undo", "Undo a change of view (Ctrl+Z)"),
                          window_icon_button("edit-redo-symbolic", "win.redo", "Redo it (Ctrl+Shift+Z)"),
                          view->follow_button, view->runs};
    GtkWidget *end[] = {menu, window_icon_button("edit-find-symbolic", "win.find", "Find (Ctrl+F)"),
                        toggle("Panel", "win.panel", "Side panel (F9)"),
                        toggle("Time", "win.time", "By order or by time (T)"),
                        window_icon_button("zoom-fit-best-symbolic", "win.fit", "The whole run (*)"),
                        window_icon_button("zoom-in-symbolic", "win.zoom-in", "Zoom in (+)"),
                        window_icon_button("zoom-out-symbolic", "win.zoom-out", "Zoom out (-)")};
    for (size_t i = 0; i < G_N_ELEMENTS(start); i++)
        gtk_header_bar_pack_start(GTK_HEADER_BAR(header), start[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(end); i++)
        gtk_header_bar_pack_end(GTK_HEADER_BAR(header), end[i]);
    return header;
}

static void on_recent_row(GtkButton *row, gpointer data)
{
    link_open(data, g_object_get_data(G_OBJECT(row), "what"));
}

static GtkWidget *empty_new(struct view *view)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 14), *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8),
              *open = gtk_button_new_with_label("Open a trace…"), *latest = gtk_button_new_with_label("The latest run"),
              *connect = gtk_button_new_with_label("Connect…");
    view->empty_title = gtk_label_new("No trace");
    view->empty_text = gtk_label_new("");
    gtk_widget_add_css_class(view->empty_title, "title-1");
    gtk_label_set_selectable(GTK_LABEL(view->empty_text), TRUE);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(open), "win.open");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(latest), "win.latest");
    gtk_actionable_set_action_name(GTK_ACTIONABLE(connect), "win.connect");
    gtk_widget_set_valign(box, GTK_ALIGN_CENTER);
    gtk_widget_set_halign(box, GTK_ALIGN_CENTER);
    gtk_widget_set_halign(row, GTK_ALIGN_CENTER);
    gtk_box_append(GTK_BOX(row), open);
    gtk_box_append(GTK_BOX(row), connect);
    gtk_box_append(GTK_BOX(row), latest);
    gtk_box_append(GTK_BOX(box), view->empty_title);
    gtk_box_append(GTK_BOX(box), view->empty_text);
    gtk_box_append(GTK_BOX(box), row);
    for (char **r = view->settings.recent; r && *r && r - view->settings.recent < 5; r++) {
        GtkWidget *recent = gtk_button_new_with_label(*r);
        gtk_button_set_has_frame(GTK_BUTTON(recent), FALSE);
        g_object_set_data_full(G_OBJECT(recent), "what", g_strdup(*r), g_free);
        g_signal_connect(recent, "clicked", G_CALLBACK(on_recent_row), view);
        gtk_box_append(GTK_BOX(box), recent);
    }
    return box;
}

static void on_banner(GtkButton *button, gpointer data)
{
    struct view *view = data;
    (void)button;
    gtk_widget_set_visible(view->banner, FALSE);
    if (view->banner_for == BANNER_ARRANGE)
        views_apply_arrangement(view);
    else
        link_open(view, view->link.what);
}

static void on_banner_close(GtkButton *button, gpointer data)
{
    (void)button;
    gtk_widget_set_visible(((struct view *)data)->banner, FALSE);
}

static GtkWidget *banner_new(struct view *view)
{
    GtkWidget *close = gtk_button_new_from_icon_name("window-close-symbolic");
    view->banner = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 10);
    view->banner_text = gtk_label_new("");
    view->banner_button = gtk_button_new_with_label("");
    gtk_button_set_use_underline(GTK_BUTTON(view->banner_button), TRUE);
    gtk_button_set_has_frame(GTK_BUTTON(close), FALSE);
    gtk_widget_set_tooltip_text(close, "Close");
    gtk_label_set_xalign(GTK_LABEL(view->banner_text), 0);
    gtk_label_set_ellipsize(GTK_LABEL(view->banner_text), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(view->banner_text, TRUE);
    g_object_set(view->banner, "margin-top", 4, "margin-bottom", 4, "margin-start", 10, "margin-end", 6, NULL);
    gtk_box_append(GTK_BOX(view->banner), view->banner_text);
    gtk_box_append(GTK_BOX(view->banner), view->banner_button);
    gtk_box_append(GTK_BOX(view->banner), close);
    g_signal_connect(view->banner_button, "clicked", G_CALLBACK(on_banner), view);
    g_signal_connect(close, "clicked", G_CALLBACK(on_banner_close), view);
    gtk_widget_set_visible(view->banner, FALSE);
    return view->banner;
}

static void on_scale(GtkRange *range, gpointer data)
{
    struct view *view = data;
    double v = gtk_range_get_value(range);
    if (!view->moving && (view->place.column_ns || v > 0))
        motion_time(view, v);
}

/* From pure order, at 0, over fine to coarse time: the logarithm of the nanoseconds to a column. */
static GtkWidget *time_new(struct view *view)
{
    view->time_box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 8);
    view->time_scale = gtk_scale_new_with_range(GTK_ORIENTATION_HORIZONTAL, 0, 10, 0.05);
    view->time_label = gtk_label_new("");
    gtk_scale_set_draw_value(GTK_SCALE(view->time_scale), FALSE);
    gtk_widget_set_size_request(view->time_scale, 200, -1);
    gtk_label_set_width_chars(GTK_LABEL(view->time_label), 16);
    gtk_label_set_xalign(GTK_LABEL(view->time_label), 0);
    gtk_widget_set_tooltip_text(view->time_scale, "Time to a column, from order alone to coarse");
    gtk_accessible_update_property(GTK_ACCESSIBLE(view->time_scale), GTK_ACCESSIBLE_PROPERTY_LABEL,
                                   "Time to a column", -1);
    g_signal_connect(view->time_scale, "value-changed", G_CALLBACK(on_scale), view);
    gtk_box_append(GTK_BOX(view->time_box), view->time_scale);
    gtk_box_append(GTK_BOX(view->time_box), view->time_label);
    return view->time_box;
}

static GtkWidget *bottom_new(struct view *view)
{
    GtkWidget *row = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 10), *busy = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6),
              *cancel = gtk_button_new_with_label("Cancel");
    view->status = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(view->status), 0);
    gtk_label_set_ellipsize(GTK_LABEL(view->status), PANGO_ELLIPSIZE_END);
    gtk_widget_set_hexpand(view->status, TRUE);
    view->progress = gtk_progress_bar_new();
    gtk_progress_bar_set_show_text(GTK_PROGRESS_BAR(view->progress), TRUE);
    gtk_progress_bar_set_ellipsize(GTK_PROGRESS_BAR(view->progress), PANGO_ELLIPSIZE_MIDDLE);
    gtk_widget_set_size_request(view->progress, 220, -1);
    gtk_widget_set_valign(view->progress, GTK_ALIGN_CENTER);
    g_signal_connect(cancel, "clicked", G_CALLBACK(on_cancel), view);
    gtk_box_append(GTK_BOX(busy), view->progress);
    gtk_box_append(GTK_BOX(busy), cancel);
    gtk_widget_set_visible(busy, FALSE);
    gtk_box_append(GTK_BOX(row), view->status);
    gtk_box_append(GTK_BOX(row), time_new(view));
    gtk_box_append(GTK_BOX(row), busy);
    g_object_set(row, "margin-start", 8, "margin-end", 8, "margin-top", 3, "margin-bottom", 3, NULL);
    return row;
}

static GtkWidget *picture_new(struct view *view)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    gtk_box_append(GTK_BOX(box), canvas_new(view));
    gtk_box_append(GTK_BOX(box), legend_new(view));
    gtk_box_append(GTK_BOX(box), map_new(view));
    view->panel = panels_new(view);
    view->paned = gtk_paned_new(GTK_ORIENTATION_HORIZONTAL);
    gtk_paned_set_start_child(GTK_PANED(view->paned), box);
    gtk_paned_set_end_child(GTK_PANED(view->paned), view->panel);
    gtk_paned_set_resize_end_child(GTK_PANED(view->paned), FALSE);
    gtk_paned_set_shrink_end_child(GTK_PANED(view->paned), FALSE);
    return view->paned;
}

static void add_style(void)
{
    GtkCssProvider *provider = gtk_css_provider_new();
    gtk_css_provider_load_from_data(provider, ".pages button { padding: 2px 7px; min-width: 0; min-height: 22px; }", -1);
    gtk_style_context_add_provider_for_display(gdk_display_get_default(), GTK_STYLE_PROVIDER(provider),
                                               GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
    g_object_unref(provider);
}

static gboolean on_close(GtkWindow *window, gpointer data)
{
    struct view *view = data;
    view->settings.width = gtk_widget_get_width(GTK_WIDGET(window));
    view->settings.height = gtk_widget_get_height(GTK_WIDGET(window));
    settings_save(view);
    if (view->link.cancel)
        g_cancellable_cancel(view->link.cancel);
    window_busy(view, NULL, 0);
    link_close(view);
    g_clear_pointer(&view->said, g_free);
    if (view->reselect_timer)
        g_source_remove(view->reselect_timer);
    if (view->orienting)
        g_source_remove(view->orienting);
    return FALSE;
}

void window_new(GtkApplication *application, const char *source, const char *script)
{
    struct view *view = g_new0(struct view, 1);
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    settings_load(&view->settings);
    add_style();
    view->application = application;
    view->link.source.fd = -1;
    view->place.zoom = ZOOM_FIRST;
    view->window = gtk_application_window_new(application);
    gtk_window_set_default_size(GTK_WINDOW(view->window), view->settings.width, view->settings.height);
    gtk_window_set_icon_name(GTK_WINDOW(view->window), "io.github.poet.View");
    gtk_window_set_titlebar(GTK_WINDOW(view->window), header_new(view));
    view->stack = gtk_stack_new();
    gtk_widget_set_vexpand(view->stack, TRUE);
    gtk_stack_add_named(GTK_STACK(view->stack), empty_new(view), "empty");
    GtkWidget *bottom = bottom_new(view);
    gtk_stack_add_named(GTK_STACK(view->stack), picture_new(view), "picture");
    gtk_box_append(GTK_BOX(box), banner_new(view));
    gtk_box_append(GTK_BOX(box), view->stack);
    gtk_box_append(GTK_BOX(box), bottom);
    gtk_window_set_child(GTK_WINDOW(view->window), box);
    g_signal_connect(view->window, "close-request", G_CALLBACK(on_close), view);
    actions_install(view);
    settings_apply(view);
    window_titles(view);
    window_empty(view, "Opening", "");
    gtk_window_present(GTK_WINDOW(view->window));
    link_open(view, source);
    if (script)
        script_run(view, script);
}
