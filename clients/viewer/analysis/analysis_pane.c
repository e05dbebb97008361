#include "clients/viewer/analysis/analysis_pane.h"

#include "clients/viewer/analysis/band_rows.h"
#include "clients/viewer/analysis/lock_details.h"
#include "clients/viewer/analysis/metric_page.h"
#include "clients/viewer/analysis/state_details.h"
#include "clients/viewer/diagram/time_range.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/accessible_name.h"
#include "clients/viewer/state/compat.h"
#include "clients/viewer/state/icon_button.h"
#include "clients/viewer/state/page_switcher.h"
#include "clients/viewer/state/status_line.h"

/* The row above the tabs of the analysis pane that names the selected range, with buttons to zoom
 * to it, copy it and clear it. */

struct range_bar {
    GtkWidget *box, *label, *all_threads;
};

static const struct viewer_addon range_bar_addon = {"range_bar", sizeof(struct range_bar)};

static GtkWidget *range_bar_add_button(GtkWidget *box, const char *label, const char *action,
                                       const char *tooltip)
{
    GtkWidget *button = gtk_button_new_with_label(label);
    gtk_actionable_set_action_name(GTK_ACTIONABLE(button), action);
    gtk_widget_set_tooltip_text(button, tooltip);
    gtk_widget_add_css_class(button, "flat");
    gtk_box_append(GTK_BOX(box), button);
    return button;
}

static GtkWidget *range_bar_add_label(GtkWidget *box, const char *css)
{
    GtkWidget *label = gtk_label_new("");
    gtk_label_set_xalign(GTK_LABEL(label), 0);
    gtk_label_set_ellipsize(GTK_LABEL(label), PANGO_ELLIPSIZE_END);
    gtk_widget_add_css_class(label, css);
    gtk_box_append(GTK_BOX(box), label);
    return label;
}

/* Returns the row, which is hidden while no range is selected. */
static GtkWidget *range_bar_new(struct view *view)
{
    struct range_bar *bar = viewer_addons_add(&view->addons, &range_bar_addon);
    bar->box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 6);
    g_object_set(bar->box, "margin-start", 8, NULL);
    gtk_widget_add_css_class(bar->box, "pages");
    bar->label = range_bar_add_label(bar->box, "range");
    gtk_widget_set_hexpand(bar->label, TRUE);
    bar->all_threads =
        range_bar_add_button(bar->box, "All threads", "win.range-threads",
                             "The same time of all threads, not only of the selected rows");
    range_bar_add_button(bar->box, "Zoom", "win.range-zoom", "Zoom to the range (Shift+R)");
    range_bar_add_button(bar->box, "Copy command", "win.range-copy",
                         "Copy the command that prints the range: poet show with --from and --to, "
                         "which poet states, waits, path and others have, too");
    range_bar_add_button(bar->box, "Copy link", "win.range-link",
                         "Copy the command that opens this range: poet view with --from and --to");
    GtkWidget *clear = icon_button_new("edit-clear-symbolic", "win.range-clear",
                                       "Clear the range and the cursors (Escape)");
    gtk_widget_add_css_class(clear, "flat");
    gtk_box_append(GTK_BOX(bar->box), clear);
    gtk_widget_set_visible(bar->box, FALSE);
    return bar->box;
}

/* Updates it for the visible tab, which may be about the whole run nevertheless. */
static void range_bar_show(struct view *view, const struct tab *tab)
{
    struct range_bar *bar = viewer_addons_find(&view->addons, &range_bar_addon);
    bool set = time_range_is_set(view);
    char *text = set ? time_range_text(view) : g_strdup("");
    char *titled = tab->whole_run
                       ? g_strdup_printf("Whole run (%s); range %s", tab->whole_run, text)
                       : g_strdup_printf("Range %s", text);
    gtk_label_set_text(GTK_LABEL(bar->label), titled);
    gtk_widget_set_tooltip_text(bar->label, titled);
    gtk_widget_set_visible(bar->all_threads, view->viewport.place.range.line_count > 0);
    gtk_widget_set_visible(bar->box, set);
    g_free(titled);
    g_free(text);
}

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

/* Opens the pane for a new range, but not while it is dragged: the diagram would become smaller
 * under the pointer. */
static void analysis_pane_open_for_range(struct view *view)
{
    if (!time_range_is_set(view) || view->viewer_settings.drawer ||
        view->pointer.drag.what == DRAG_RANGE)
        return;
    view->viewer_settings.drawer = true;
    notifier_emit(&view->notifier, NOTIFY_SETTINGS);
}

static void analysis_pane_on_notification(struct view *view, enum notification what)
{
    struct analysis_pane *d = analysis_pane_find(view);
    if (what == NOTIFY_RANGE)
        analysis_pane_open_for_range(view);
    if (what == NOTIFY_RANGE || what == NOTIFY_RESTORED || what == NOTIFY_QUIET)
        range_bar_show(view, tab_definition(analysis_pane_current_tab(view)));
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

void analysis_pane_show_line(struct view *view, uint32_t line)
{
    if (!metadata_line(view_metadata(view), line)) {
        status_line_show(&view->status_line, "Select an event to see the details of its line");
    } else if (!metadata_line_is_thread(view_metadata(view), line)) {
        analysis_pane_open(view, "locks");
        lock_details_show(view, line);
    } else {
        analysis_pane_open(view, "states");
        state_details_show(view, line);
    }
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
    range_bar_show(view, tab_definition(analysis_pane_current_tab(view)));
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
    GtkWidget *head = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 0), *along = page_switcher_new(stack),
              *close = gtk_button_new_from_icon_name("window-close-symbolic");
    gtk_widget_add_css_class(close, "flat");
    gtk_widget_set_tooltip_text(close, "Close the analysis pane (F6)");
    accessible_name_set(close, "Close the analysis pane");
    g_signal_connect(close, "clicked", G_CALLBACK(on_close), view);
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
    gtk_box_append(GTK_BOX(d->box), range_bar_new(view));
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

bool tab_export_is_possible(struct view *view)
{
    return view->viewer_settings.drawer && analysis_pane_has_focus(view) &&
           tab_has_rows(analysis_pane_current_tab(view));
}

static bool is_picture(const char *file)
{
    return g_str_has_suffix(file, ".pdf") || g_str_has_suffix(file, ".svg") ||
           g_str_has_suffix(file, ".png");
}

void tab_export_write(struct view *view, const char *file)
{
    char *named = is_picture(file) ? g_strdup(file) : g_strdup_printf("%s.pdf", file);
    struct tab_instance *tab = analysis_pane_current_tab(view);
    const char *why = "the tab is empty";
    if (!tab_has_rows(tab) || !tab_save(tab, named, &why))
        status_line_show_problem(&view->status_line, NULL, "%s: %s", named, why);
    else
        status_line_show(&view->status_line, "Saved %s", named);
    g_free(named);
}

static void on_chosen(void *view, const char *path)
{
    if (path)
        tab_export_write(view, path);
}

void tab_export_ask(struct view *view)
{
    char *name = g_strdup_printf("%s-%s.pdf", view_metadata(view)->run.name,
                                 tab_definition(analysis_pane_current_tab(view))->name);
    compat_choose_file(&(struct compat_file){.parent = GTK_WINDOW(view->window),
                                             .title = "Export tab as .pdf, .svg or .png",
                                             .saves = true,
                                             .name = name},
                       on_chosen, view);
    g_free(name);
}
