#include "clients/view/window.h"

#include "clients/view/action.h"
#include "clients/view/picture/card.h"
#include "clients/view/drawer/drawer.h"
#include "clients/view/fetch.h"
#include "clients/view/focus.h"
#include "clients/view/header.h"
#include "clients/view/heard.h"
#include "clients/view/newer.h"
#include "clients/view/panels/panels.h"
#include "clients/view/parts/compat.h"
#include "clients/view/parts/link.h"
#include "clients/view/parts/news.h"
#include "clients/view/parts/settings.h"
#include "clients/view/parts/stage.h"
#include "clients/view/parts/status.h"
#include "clients/view/patience.h"
#include "clients/view/picture/afar.h"
#include "clients/view/picture/axis.h"
#include "clients/view/picture/bar.h"
#include "clients/view/picture/canvas.h"
#include "clients/view/picture/legend.h"
#include "clients/view/picture/letters.h"
#include "clients/view/picture/map.h"
#include "clients/view/picture/picture.h"
#include "clients/view/picture/reason.h"
#include "clients/view/picture/scroll.h"
#include "clients/view/picture/seek.h"
#include "clients/view/picture/select.h"
#include "clients/view/picture/thick.h"
#include "clients/view/picture/timescale.h"
#include "clients/view/picture/lit.h"
#include "clients/view/picture/tint.h"
#include "clients/view/picture/view.h"
#include "clients/view/save.h"
#include "clients/view/script.h"
#include "clients/view/session.h"
#include "clients/view/views.h"
#include "clients/view/welcome.h"

/* ---- what follows from news ---- */

static void apply_dark(struct settings *settings)
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

static void draw(struct view *view)
{
    gtk_widget_queue_draw(view->canvas);
    gtk_widget_queue_draw(view->map.widget);
}

static void take_settings(struct view *view)
{
    apply_dark(&view->settings);
    gtk_widget_set_visible(view->panel, view->settings.panel);
    gtk_widget_set_visible(view->map.widget, view->settings.map);
    timescale_show(view);
    legend_show(view);
    stage_stale(&view->stage);
    draw(view);
    actions_update(view);
}

static void take_picture(struct view *view)
{
    timescale_show(view);
    legend_show(view);
    header_titles(view);
    draw(view);
}

static void take_news(void *user, enum news news)
{
    struct view *view = user;
    if (news == NEWS_PICTURE)
        axis_stale(view);
    panels_tell(view, news);
    drawer_tell(view, news);
    reason_take(view, news);
    thick_take(view, news);
    tint_take(view, news);
    lit_take(view, news);
    stops_take(view, news);
    afar_take(view, news);
    card_take(view, news);
    if (news == NEWS_PLACE || news == NEWS_SELECTED || news == NEWS_SWITCHES)
        newer_watch(view);
    if (news == NEWS_PLACE || news == NEWS_ROWS) {
        picture_ask(view);
        picture_stays(view);
    }
    if (news == NEWS_ROWS)
        map_ask(view);
    if (news == NEWS_RESTORED) {
        scroll_stop(view);
        select_restored(view);
        map_ask(view); /* it may have been by time, or of other lines */
    }
    if (news == NEWS_PICTURE)
        take_picture(view);
    if (news == NEWS_WAITS)
        header_waits(view);
    if (news == NEWS_STANDS)
        gtk_widget_queue_draw(view->legend);
    if (news == NEWS_LOOK || news == NEWS_HITS || news == NEWS_NOTES)
        stage_stale(&view->stage);
    if ((news == NEWS_LOOK && !view->picture.leaving) || news == NEWS_HITS || news == NEWS_SEEN ||
        news == NEWS_NOTES)
        draw(view);
    if (news == NEWS_SWITCHES) {
        picture_tell_much(view);
        actions_update(view);
        timescale_show(view);
        legend_show(view);
    }
    if (news == NEWS_SETTINGS)
        take_settings(view);
}

/* ---- buttons of the status line and the banner ---- */

static void on_cancel(void *user)
{
    struct view *view = user;
    if (save_runs(view))
        save_cancel(view);
    else if (fetch_runs(view))
        fetch_cancel(view);
    else if (patience_is_out(view))
        patience_give_up(view);
    else if (view->link.opening)
        heard_end(view);
    link_give_up(&view->link);
}

static void on_again(void *user)
{
    struct view *view = user;
    link_open(&view->link, view->link.what);
}

static void on_accept(void *user) { views_apply_arrangement(user); }

/* ---- making it ---- */

/* Ties the parts together. */
static void connect_parts(struct view *view)
{
    view->news = (struct listener){take_news, view};
    view->link = (struct link){.ears = &session_ears, .user = view, .source.fd = -1};
    view->camera = (struct camera){.place.zoom = CAMERA_ZOOM_FIRST,
                                   .unit_px = 1,
                                   .stage = &view->stage,
                                   .settings = &view->settings,
                                   .news = &view->news};
    view->history = (struct history){.place = &view->camera.place, .news = &view->news};
    view->ties = (struct ties){.link = &view->link, .news = &view->news};
    view->noted = (struct noted){.link = &view->link, .news = &view->news};
    view->finder = (struct finder){.link = &view->link, .news = &view->news};
    view->status.user = view;
    view->status.cancel = on_cancel;
    view->status.again = on_again;
    view->status.accept = on_accept;
}

static void on_letters(GtkSettings *settings, GParamSpec *spec, gpointer data)
{
    struct view *view = data;
    (void)settings;
    (void)spec;
    if (!letters_update(view))
        return;
    stage_stale(&view->stage);
    canvas_resized(view, gtk_widget_get_width(view->canvas), gtk_widget_get_height(view->canvas));
    picture_rebuild(view);
    legend_show(view);
    news_tell(&view->news, NEWS_LOOK);
    gtk_widget_queue_draw(view->window);
}

/* What is drawn has the system's size of letters, now and whenever that changes. */
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
    gtk_box_append(GTK_BOX(box), seek_new(view));
    gtk_box_append(GTK_BOX(box), canvas_new(view));
    gtk_box_append(GTK_BOX(box), legend_new(view));
    gtk_box_append(GTK_BOX(box), map_new(view));
    view->panel = panels_new(view);
    gtk_paned_set_start_child(GTK_PANED(paned), drawer_new(view, box));
    gtk_paned_set_end_child(GTK_PANED(paned), view->panel);
    int width = view->settings.width_px;
    gtk_paned_set_position(GTK_PANED(paned), MAX(width - 345, width * 2 / 3));
    gtk_paned_set_resize_end_child(GTK_PANED(paned), FALSE);
    gtk_paned_set_shrink_end_child(GTK_PANED(paned), FALSE);
    return paned;
}

static void add_style(void)
{
    GtkCssProvider *provider = gtk_css_provider_new();
    compat_load_css(
        provider,
        ".pages button { padding: 2px 7px; min-width: 0; min-height: 22px; }"
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
    view->settings.maximized = gtk_window_is_maximized(window);
    gtk_window_get_default_size(window, &view->settings.width_px, &view->settings.height_px);
    settings_save(&view->settings);
    heard_end(view);
    link_give_up(&view->link);
    status_busy(&view->status, NULL, 0);
    toast_hide(&view->toast);
    link_close(&view->link);
    thick_clear(view);
    tint_clear(view);
    lit_clear(view);
    stops_free(view);
    afar_clear(view);
    scroll_stop(view);
    bar_stop(view);
    status_end(&view->status);
    return FALSE;
}

static void fill(struct view *view)
{
    GtkWidget *box = gtk_box_new(GTK_ORIENTATION_VERTICAL, 0);
    view->stack = gtk_stack_new();
    gtk_widget_set_vexpand(view->stack, TRUE);
    gtk_stack_add_named(GTK_STACK(view->stack), welcome_new(view), "empty");
    GtkWidget *foot = status_line_new(&view->status, timescale_new(view));
    gtk_stack_add_named(GTK_STACK(view->stack), picture_new(view), "picture");
    gtk_box_append(GTK_BOX(box), status_banner_new(&view->status));
    gtk_box_append(GTK_BOX(box), toast_new(&view->toast, view->stack));
    gtk_box_append(GTK_BOX(box), foot);
    gtk_window_set_child(GTK_WINDOW(view->window), box);
}

void window_new(GtkApplication *application, const char *source, const char *script)
{
    struct view *view = g_new0(struct view, 1);
    settings_load(&view->settings);
    add_style();
    connect_parts(view);
    view->window = gtk_application_window_new(application);
    gtk_window_set_default_size(GTK_WINDOW(view->window), view->settings.width_px,
                                view->settings.height_px);
    if (view->settings.maximized)
        gtk_window_maximize(GTK_WINDOW(view->window));
    gtk_window_set_icon_name(GTK_WINDOW(view->window), "io.github.poet.View");
    gtk_window_set_titlebar(GTK_WINDOW(view->window), header_new(view));
    fill(view);
    g_signal_connect(view->window, "close-request", G_CALLBACK(on_close), view);
    actions_install(view);
    focus_watch(view);
    news_tell(&view->news, NEWS_SETTINGS);
    header_titles(view);
    welcome_show(view, "Opening", "");
    gtk_window_present(GTK_WINDOW(view->window));
    heard_begin(view);
    link_open(&view->link, source);
    if (script)
        script_run(view, script);
}
