#include "clients/viewer/viewer_window.h"

#include "clients/viewer/actions.h"
#include "clients/viewer/analysis/analysis_pane.h"
#include "clients/viewer/diagram/canvas.h"
#include "clients/viewer/diagram/diagram_view.h"
#include "clients/viewer/diagram/function_highlight.h"
#include "clients/viewer/diagram/legend_bar.h"
#include "clients/viewer/diagram/letters.h"
#include "clients/viewer/diagram/overview_map.h"
#include "clients/viewer/diagram/overview_overlay.h"
#include "clients/viewer/diagram/path_overlay.h"
#include "clients/viewer/diagram/row_search.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/selection.h"
#include "clients/viewer/diagram/status_card.h"
#include "clients/viewer/diagram/time_axis.h"
#include "clients/viewer/diagram/time_scale.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/diagram/wait_cause.h"
#include "clients/viewer/diagram/wait_coloring.h"
#include "clients/viewer/diagram_export.h"
#include "clients/viewer/focus_return.h"
#include "clients/viewer/remote_goto.h"
#include "clients/viewer/saved_views.h"
#include "clients/viewer/sidebar/panel.h"
#include "clients/viewer/state/compat.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/state/server_link.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/state/viewer_settings.h"
#include "clients/viewer/trace_download.h"
#include "clients/viewer/viewer_script.h"
#include "clients/viewer/viewer_session.h"

/* ---- settings ---- */

static void apply_dark(struct viewer_settings *settings)
{
    gboolean dark = FALSE;
    char *theme = NULL;
    g_object_get(gtk_settings_get_default(), "gtk-application-prefer-dark-theme", &dark,
                 "gtk-theme-name", &theme, NULL);
    if (settings->dark_follows)
        settings->look.dark = dark || (theme && g_str_has_suffix(theme, "-dark"));
    else
        g_object_set(gtk_settings_get_default(), "gtk-application-prefer-dark-theme",
                     settings->look.dark, NULL);
    g_free(theme);
}

static void viewer_window_on_settings(struct view *view, enum notification what)
{
    (void)what;
    apply_dark(&view->viewer_settings);
    gtk_widget_set_visible(view->panel, view->viewer_settings.panel);
    gtk_widget_set_visible(view->overview_map.widget, view->viewer_settings.map);
}

/* ---- buttons of the status line and the banner ---- */

static void on_cancel(void *user)
{
    struct view *view = user;
    if (save_is_running(view))
        save_cancel(view);
    else if (trace_download_is_running(view))
        trace_download_cancel(view);
    else if (progress_row_is_shown(view))
        progress_row_give_up(view);
    else if (view->server_link.opening)
        remote_goto_end(view);
    server_link_give_up(&view->server_link);
}

static void viewer_window_on_retry(void *user)
{
    struct view *view = user;
    server_link_open(&view->server_link, view->server_link.source_name);
}

static void on_accept(void *user) { saved_views_apply_arrangement(user); }

/* ---- construction ---- */

/* Connects the parts. */
static void connect_parts(struct view *view)
{
    view->notifier.view = view;
    notifier_connect(&view->notifier, NOTIFY_FIRST, NOTIFY_BIT(NOTIFY_SETTINGS),
                     viewer_window_on_settings);
    view->server_link =
        (struct server_link){.callbacks = &viewer_session_callbacks, .user = view, .source.fd = -1};
    view->viewport = (struct viewport){.place.zoom = VIEWPORT_INITIAL_ZOOM,
                                       .unit_px = 1,
                                       .scene_cache = &view->scene_cache,
                                       .settings = &view->viewer_settings,
                                       .notifier = &view->notifier};
    view->history =
        (struct view_history){.place = &view->viewport.place, .notifier = &view->notifier};
    view->selection_relations =
        (struct selection_relations){.link = &view->server_link, .notifier = &view->notifier};
    view->run_notes = (struct run_notes){.link = &view->server_link, .notifier = &view->notifier};
    view->search = (struct viewer_search){.link = &view->server_link, .notifier = &view->notifier};
    view->status_line.user = view;
    view->status_line.cancel = on_cancel;
    view->status_line.again = viewer_window_on_retry;
    view->status_line.accept = on_accept;
}

static void on_letters(GtkSettings *settings, GParamSpec *spec, gpointer data)
{
    struct view *view = data;
    (void)settings;
    (void)spec;
    if (!letters_update(view))
        return;
    scene_cache_invalidate(&view->scene_cache);
    canvas_resized(view, gtk_widget_get_width(view->canvas), gtk_widget_get_height(view->canvas));
    diagram_view_rebuild(view);
    legend_bar_show(view);
    notifier_emit(&view->notifier, NOTIFY_LOOK);
    gtk_widget_queue_draw(view->window);
}

/* Adapts drawings to the system's text size, now and whenever it changes. */
static void follow_letters(struct view *view)
{
    GtkSettings *settings = gtk_widget_get_settings(view->window);
    letters_update(view);
    g_signal_connect(settings, "notify::gtk-font-name", G_CALLBACK(on_letters), view);
    g_signal_connect(settings, "notify::gtk-xft-dpi", G_CALLBACK(on_letters), view);
}

static GtkWidget *picture_new(struct view *view)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0),
              *paned = gtk_paned_new(GTK_ORIENTATION_HORIZONTAL);
    follow_letters(view);
    gtk_box_append(GTK_BOX(box), row_search_new(view));
    gtk_box_append(GTK_BOX(box), canvas_new(view));
    gtk_box_append(GTK_BOX(box), legend_bar_new(view));
    gtk_box_append(GTK_BOX(box), overview_map_new(view));
    view->panel = panels_new(view);
    gtk_paned_set_start_child(GTK_PANED(paned), analysis_pane_new(view, box));
    gtk_paned_set_end_child(GTK_PANED(paned), view->panel);
    int width = view->viewer_settings.width_px;
    gtk_paned_set_position(GTK_PANED(paned), MAX(width - 373, width * 3 / 5));
    gtk_paned_set_resize_end_child(GTK_PANED(paned), FALSE);
    gtk_paned_set_shrink_end_child(GTK_PANED(paned), FALSE);
    return paned;
}

static void add_style(void)
{
    GtkCssProvider *provider = gtk_css_provider_new();
    compat_load_css(provider,
                    ".pages button { padding: 2px 4px; min-width: 0; min-height: 22px; }"
                    ".pages-along undershoot.left { background: linear-gradient(to right, "
                    "alpha(@theme_fg_color, 0.45), transparent 16px); }"
                    ".pages-along undershoot.right { background: linear-gradient(to left, "
                    "alpha(@theme_fg_color, 0.45), transparent 16px); }"
                    "headerbar button.text-button { padding-left: 9px; padding-right: 9px; }"
                    ".said-over { padding: 6px 8px 6px 14px; border-radius: 8px; }"
                    "entry.error { color: #c01c28; border-color: #c01c28; }");
    gtk_style_context_add_provider_for_display(gdk_display_get_default(),
                                               GTK_STYLE_PROVIDER(provider),
                                               GTK_STYLE_PROVIDER_PRIORITY_APPLICATION);
    g_object_unref(provider);
}

static gboolean on_close(GtkWindow *window, gpointer data)
{
    struct view *view = data;
    view->viewer_settings.maximized = gtk_window_is_maximized(window);
    gtk_window_get_default_size(window, &view->viewer_settings.width_px,
                                &view->viewer_settings.height_px);
    viewer_settings_save(&view->viewer_settings);
    remote_goto_end(view);
    server_link_give_up(&view->server_link);
    status_line_show_progress(&view->status_line, NULL, 0);
    toast_hide(&view->toast);
    server_link_close(&view->server_link);
    path_overlay_clear(view);
    wait_coloring_clear(view);
    function_highlight_clear(view);
    breakpoints_free(view);
    overview_overlay_clear(view);
    scroll_stop(view);
    row_scrollbar_stop(view);
    status_line_free(&view->status_line);
    return FALSE;
}

static void viewer_window_add_widgets(struct view *view)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    view->stack = gtk_stack_new();
    gtk_widget_set_vexpand(view->stack, TRUE);
    gtk_stack_add_named(GTK_STACK(view->stack), welcome_page_new(view), "empty");
    GtkWidget *foot = status_line_line_new(&view->status_line, time_scale_new(view));
    gtk_stack_add_named(GTK_STACK(view->stack), picture_new(view), "picture");
    gtk_box_append(GTK_BOX(box), status_line_new_banner(&view->status_line));
    gtk_box_append(GTK_BOX(box), toast_new(&view->toast, view->stack));
    gtk_box_append(GTK_BOX(box), foot);
    gtk_window_set_child(GTK_WINDOW(view->window), box);
}

void viewer_window_new(GtkApplication *application, const struct viewer_start *start)
{
    struct view *view = g_new0(struct view, 1);
    viewer_settings_load(&view->viewer_settings);
    add_style();
    connect_parts(view);
    view->window = gtk_application_window_new(application);
    gtk_window_set_default_size(GTK_WINDOW(view->window), view->viewer_settings.width_px,
                                view->viewer_settings.height_px);
    if (view->viewer_settings.maximized)
        gtk_window_maximize(GTK_WINDOW(view->window));
    gtk_window_set_icon_name(GTK_WINDOW(view->window), "io.github.poet.View");
    gtk_window_set_titlebar(GTK_WINDOW(view->window), header_bar_new(view));
    viewer_window_add_widgets(view);
    g_signal_connect(view->window, "close-request", G_CALLBACK(on_close), view);
    actions_install(view);
    focus_watch(view);
    notifier_emit(&view->notifier, NOTIFY_SETTINGS);
    header_bar_show_titles(view);
    welcome_page_show(view, "Opening", "");
    gtk_window_present(GTK_WINDOW(view->window));
    remote_goto_begin(view);
    viewer_session_open_range(view, start->from_ns, start->to_ns);
    server_link_open(&view->server_link, start->source);
    if (start->script)
        viewer_script_run(view, start->script);
}
