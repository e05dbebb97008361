#include "clients/view/session.h"

#include "clients/source/place.h"
#include "clients/view/action.h"
#include "clients/view/drawer/drawer.h"
#include "clients/view/fetch.h"
#include "clients/view/header.h"
#include "clients/view/menu.h"
#include "clients/view/newer.h"
#include "clients/view/panels/panels.h"
#include "clients/view/parts/finder.h"
#include "clients/view/parts/history.h"
#include "clients/view/parts/link.h"
#include "clients/view/parts/news.h"
#include "clients/view/parts/noted.h"
#include "clients/view/parts/settings.h"
#include "clients/view/parts/stage.h"
#include "clients/view/parts/status.h"
#include "clients/view/parts/ties.h"
#include "clients/view/patience.h"
#include "clients/view/picture/map.h"
#include "clients/view/picture/reason.h"
#include "clients/view/picture/scroll.h"
#include "clients/view/picture/thick.h"
#include "clients/view/picture/timescale.h"
#include "clients/view/picture/afar.h"
#include "clients/view/picture/lit.h"
#include "clients/view/picture/tint.h"
#include "clients/view/picture/view.h"
#include "clients/view/runs.h"
#include "clients/view/views.h"
#include "clients/view/welcome.h"
#include "wire/asked.h"
#include "wire/placed.h"

struct session {
    uint64_t damage_told; /* 1 + events that were said to be unreadable; 0: nothing was said */
    bool renewed_told; /* that a newer description draws it */
    gint64 map_us;        /* when the map was asked for last */
    uint32_t connected;   /* programs that the list of runs knows of */
    guint quiet;          /* timer: the run has stopped growing */
};

static struct session *session_of(struct view *view)
{
    if (!view->session)
        view->session = g_new0(struct session, 1);
    return view->session;
}

/* ---- another run ---- */

/* Nothing of a run is shown any more. */
static void empty(struct view *view)
{
    stage_free(&view->stage);
    far_clear(view);
    view->picture = (struct picture){0};
    view->colour = (struct colour){0};
    ties_clear(&view->ties);
    place_free(&view->camera.place);
    view->camera.place.zoom = CAMERA_ZOOM_FIRST;
}

static void open_notes(struct view *view)
{
    struct error error;
    if (!noted_open(&view->noted, &error))
        status_trouble(&view->status, NULL, "%s", error.text);
    news_tell(&view->news, NEWS_NOTES);
}

static void on_run(void *user)
{
    struct view *view = user;
    const struct source *source = &view->link.source;
    session_of(view)->damage_told = 0;
    session_of(view)->connected = the_book(view)->run.connected;
    empty(view);
    view->picture.fresh = true;
    view->camera.place = (struct place){
        .anchor = ANCHOR_END, .follow = true, .zoom = CAMERA_ZOOM_FIRST, .stands = true};
    view->camera.hold.active = false;
    timescale_show(view);
    history_clear(&view->history);
    finder_clear(&view->finder);
    panels_clear(view);
    drawer_clear(view);
    reason_clear(view);
    thick_clear(view);
    tint_clear(view);
    lit_clear(view);
    afar_clear(view);
    open_notes(view);
    stops_read(view);
    fetch_cancel(view);
    welcome_leave(view);
    header_titles(view);
    scroll_follow(view, true);
    newer_shown(view);
    timescale_show(view);
    views_offer_arrangement(view);
    if (source_warning(source))
        status_say(&view->status, "%s: %s", source->name, source_warning(source));
    runs_ask(view);
    news_tell(&view->news, NEWS_QUIET);
    map_ask(view);
}

/* ---- more of it ---- */

/* A run that has stopped growing may hang. */
static gboolean on_quiet(gpointer data)
{
    struct view *view = data;
    session_of(view)->quiet = 0;
    news_tell(&view->news, NEWS_QUIET);
    map_ask(view);
    return G_SOURCE_REMOVE;
}

static void stop_quiet(struct view *view)
{
    if (session_of(view)->quiet)
        g_source_remove(session_of(view)->quiet);
    session_of(view)->quiet = 0;
}

#define MAP_EVERY_US 2000000

/* A program has come or gone: the list of runs says which of them run, and only those are followed. */
static void tell_end(struct view *view)
{
    struct session *session = session_of(view);
    uint32_t connected = the_book(view)->run.connected;
    if (session->connected == connected)
        return;
    session->connected = connected;
    runs_ask(view);
    actions_update(view);
}

static void on_grown(void *user)
{
    struct view *view = user;
    header_titles(view);
    tell_end(view);
    status_behind(&view->status, view->link.behind_ns);
    news_tell(&view->news, NEWS_GROWN);
    if (view->camera.place.follow || !view->stage.window.more_right)
        news_tell(&view->news, NEWS_PLACE);
    gint64 now = g_get_monotonic_time();
    if (now - session_of(view)->map_us > MAP_EVERY_US) {
        session_of(view)->map_us = now;
        map_ask(view);
    }
    stop_quiet(view);
    session_of(view)->quiet = g_timeout_add(1000, on_quiet, view);
}

/* Each time that more of the trace turns out to be unreadable. */
static void tell_damage(struct view *view)
{
    const struct book *book = the_book(view);
    if (!view->link.has_run || !book->damage ||
        session_of(view)->damage_told == book->unreadable + 1)
        return;
    session_of(view)->damage_told = book->unreadable + 1;
    status_say(&view->status, "%s", book->damage);
}

/* Once for a run. */
static void tell_renewed(struct view *view)
{
    const struct book *book = the_book(view);
    if (view->link.has_run && book->renewed && !session_of(view)->renewed_told)
        status_say(&view->status, "%s", book->renewed);
    session_of(view)->renewed_told = view->link.has_run && book->renewed;
}

static void on_came(void *user)
{
    struct view *view = user;
    link_name(&view->link, view->settings.look.labels); /* what the tables have brought */
    tell_renewed(view);
    tell_damage(view);
}

/* ---- the connection ---- */

static void on_opening(void *user, const char *what)
{
    struct view *view = user;
    status_busy(&view->status, what ? what : "the default endpoint", -1);
}

static void on_opened(void *user, const char *what)
{
    struct view *view = user;
    const struct source *source = &view->link.source;
    status_busy(&view->status, NULL, 0);
    patience_begin(view);
    runs_ask(view);
    char *text = g_strdup_printf(
        source->is_file ? "Reading %s"
                        : "On %s.  Start one:\n\n    poetcc -trace prodcons.c -o prodcons\n"
                          "    ./prodcons\n\nor, as it is:\n\n    poet record ./program",
        source->name);
    welcome_show(view, source->is_file ? "Opening" : "Waiting for a traced program", text);
    status_say(&view->status, "%s %s", source->is_file ? "Opened" : "Connected to", source->name);
    status_no_trouble(&view->status);
    settings_remember(&view->settings, what);
    menu_recent(view);
    header_titles(view);
    actions_update(view);
    g_free(text);
}

static void on_failed(void *user, const char *why)
{
    struct view *view = user;
    status_busy(&view->status, NULL, 0);
    status_trouble(&view->status, "_Try again", "%s", why);
    if (!view->link.has_run)
        welcome_show(view, "No trace", "Open a trace file, or connect to a server.");
}

static void on_closing(void *user)
{
    struct view *view = user;
    patience_end(view);
    status_behind(&view->status, 0);
    stop_quiet(view);
    if (view->link.has_run)
        views_keep_arrangement(view);
    empty(view);
}

static void on_lost(void *user, const char *why)
{
    struct view *view = user;
    header_titles(view);
    picture_stays(view);
    status_behind(&view->status, 0);
    status_busy(&view->status, NULL, 0);
    status_trouble(&view->status, "_Reconnect", "%s — what is shown stays", why);
    actions_update(view);
}

static void on_newer(void *user, const char *name) { newer_begun(user, name); }

const struct link_ears session_ears = {
    .opening = on_opening,
    .opened = on_opened,
    .failed = on_failed,
    .closing = on_closing,
    .lost = on_lost,
    .run = on_run,
    .newer = on_newer,
    .grown = on_grown,
    .came = on_came,
};
