#include "clients/viewer/viewer_session.h"

#include "clients/connection/view_state.h"
#include "clients/viewer/actions.h"
#include "clients/viewer/analysis/analysis_pane.h"
#include "clients/viewer/diagram/function_highlight.h"
#include "clients/viewer/diagram/overview_map.h"
#include "clients/viewer/diagram/overview_overlay.h"
#include "clients/viewer/diagram/path_overlay.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/time_range.h"
#include "clients/viewer/diagram/time_scale.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/diagram/wait_cause.h"
#include "clients/viewer/diagram/wait_coloring.h"
#include "clients/viewer/saved_views.h"
#include "clients/viewer/sidebar/panel.h"
#include "clients/viewer/state/history.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/run_notes.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/state/search.h"
#include "clients/viewer/state/selection_relations.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/state/viewer_settings.h"
#include "clients/viewer/trace_download.h"
#include "clients/viewer/viewer_window.h"
#include "wire/request.h"

/* ---- progress of a diagram that takes more than a second ---- */

#define TIMEOUT_US 1000000

struct progress_row {
    guint timer;
    gint64 since_us; /* since when a diagram is pending; 0: none is */
    bool out;        /* the progress is shown */
};

static const struct viewer_addon progress_row_addon = {"progress_row", sizeof(struct progress_row)};

static struct progress_row *progress_row_find(const struct view *view)
{
    return viewer_addons_find(&view->addons, &progress_row_addon);
}

static gboolean progress_row_on_timeout(gpointer data)
{
    struct view *view = data;
    struct progress_row *p = progress_row_find(view);
    const struct state_bands *bands = &view->overview.strip;
    bool counts = request_slot_is_running(&view->server_link, &view->overview.counting),
         waits = counts || request_slot_is_running(&view->server_link, &view->diagram_view.placing);
    gint64 now = g_get_monotonic_time();
    p->since_us = waits ? p->since_us ? p->since_us : now : 0;
    if (counts && bands->count && (p->out || now - p->since_us > TIMEOUT_US)) {
        p->out = true;
        status_line_show_progress(&view->status_line, "Computing states",
                                  (double)bands->known / (double)bands->count);
    } else if (waits && !p->out && now - p->since_us > TIMEOUT_US) {
        p->out = true;
        status_line_show_progress(&view->status_line,
                                  counts ? "Computing states" : "Computing the diagram", -1);
    } else if (!waits && p->out) {
        p->out = false;
        status_line_show_progress(&view->status_line, NULL, 0);
    }
    return G_SOURCE_CONTINUE;
}

static void progress_row_end(struct view *view)
{
    struct progress_row *p = progress_row_find(view);
    if (p && p->timer)
        g_source_remove(p->timer);
    if (p)
        p->timer = 0;
}

/* call when there is a connection */
static void progress_row_begin(struct view *view)
{
    progress_row_end(view);
    struct progress_row *progress = progress_row_find(view);
    if (!progress)
        progress = viewer_addons_add(&view->addons, &progress_row_addon);
    progress->timer = g_timeout_add(250, progress_row_on_timeout, view);
}

bool progress_row_is_shown(const struct view *view)
{
    struct progress_row *progress = progress_row_find(view);
    return progress && progress->out;
}

void progress_row_give_up(struct view *view)
{
    request_slot_cancel(&view->server_link, &view->diagram_view.placing);
    request_slot_cancel(&view->server_link, &view->overview.counting);
    progress_row_find(view)->out = false;
}

/* ---- the session ---- */

struct viewer_session {
    bool cut_reported;
    uint64_t damage_reported; /* 1 + unreadable events that were reported; 0: no report */
    bool renewal_reported; /* that a newer target description is used */
    gint64 map_us; /* time of the last request of the overview map */
    uint32_t connected; /* programs, according to the list of runs */
    guint quiet; /* timer: the run has stopped growing */
    struct view_state_range range; /* that the next run opens with */
};

static const struct viewer_addon viewer_session_addon = {"viewer_session",
                                                         sizeof(struct viewer_session)};

static struct viewer_session *session_state(struct view *view)
{
    struct viewer_session *state = viewer_addons_find(&view->addons, &viewer_session_addon);
    return state ? state : viewer_addons_add(&view->addons, &viewer_session_addon);
}

void viewer_session_open_range(struct view *view, int64_t from_ns, int64_t to_ns)
{
    session_state(view)->range = (struct view_state_range){.from_ns = from_ns, .to_ns = to_ns};
}

/* ---- selection of a run ---- */

/* Clears all that is shown of the previous run. */
static void session_clear_view(struct view *view)
{
    scene_cache_free(&view->scene_cache);
    overview_clear(view);
    view->diagram_view = (struct diagram_view){0};
    view->selection_colors = (struct selection_colors){0};
    selection_relations_clear(&view->selection_relations);
    view_state_free(&view->viewport.place);
    view->viewport.place.zoom = VIEWPORT_INITIAL_ZOOM;
}

static void open_notes(struct view *view)
{
    struct error error;
    if (!run_notes_open(&view->run_notes, &error))
        status_line_show_problem(&view->status_line, NULL, "%s", error.text);
    notifier_emit(&view->notifier, NOTIFY_NOTES);
}

static void on_run(void *user)
{
    struct view *view = user;
    const struct session *source = &view->server_link.source;
    session_state(view)->damage_reported = 0;
    session_state(view)->connected = view_metadata(view)->run.connected;
    session_clear_view(view);
    view->diagram_view.fresh = true;
    view->diagram_view.whole = true;
    view->viewport.place = (struct view_state){.anchor = ANCHOR_END,
                                               .follow = true,
                                               .zoom = VIEWPORT_INITIAL_ZOOM,
                                               .color_relations = true};
    view->viewport.anchor.active = false;
    time_range_set_silently(view, &session_state(view)->range);
    session_state(view)->range = (struct view_state_range){0};
    time_scale_show(view);
    history_clear(&view->history);
    search_clear(&view->search);
    panels_clear(view);
    analysis_pane_clear(view);
    wait_cause_clear(view);
    path_overlay_clear(view);
    wait_coloring_clear(view);
    function_highlight_clear(view);
    overview_overlay_clear(view);
    range_ends_clear(view);
    open_notes(view);
    breakpoints_read(view);
    trace_download_cancel(view);
    welcome_page_leave(view);
    header_bar_show_titles(view);
    scroll_follow(view, true);
    run_chooser_on_shown(view);
    time_scale_show(view);
    saved_views_offer_arrangement(view);
    if (session_warning(source))
        status_line_show(&view->status_line, "%s: %s", source->name, session_warning(source));
    run_chooser_request(view);
    notifier_emit(&view->notifier, NOTIFY_QUIET);
    overview_map_request(view);
}

/* ---- growth of the run ---- */

/* A run that has stopped growing may hang. */
static gboolean on_quiet(gpointer data)
{
    struct view *view = data;
    session_state(view)->quiet = 0;
    notifier_emit(&view->notifier, NOTIFY_QUIET);
    overview_map_request(view);
    return G_SOURCE_REMOVE;
}

static void stop_quiet(struct view *view)
{
    g_clear_handle_id(&session_state(view)->quiet, g_source_remove);
}

#define MAP_EVERY_US 2000000

/* When programs connect or exit, updates the list of runs, which shows the live ones, and the
 * actions. */
static void session_report_end(struct view *view)
{
    struct viewer_session *session = session_state(view);
    uint32_t connected = view_metadata(view)->run.connected;
    if (session->connected == connected)
        return;
    session->connected = connected;
    run_chooser_request(view);
    actions_update(view);
}

static void session_on_run_updated(void *user)
{
    struct view *view = user;
    header_bar_show_titles(view);
    session_report_end(view);
    status_line_show_lag(&view->status_line, view->server_link.behind_ns);
    notifier_emit(&view->notifier, NOTIFY_RUN_UPDATED);
    if (view->viewport.place.follow || !view->scene_cache.window.more_right)
        notifier_emit(&view->notifier, NOTIFY_PLACE);
    gint64 now = g_get_monotonic_time();
    if (now - session_state(view)->map_us > MAP_EVERY_US) {
        session_state(view)->map_us = now;
        overview_map_request(view);
    }
    stop_quiet(view);
    session_state(view)->quiet = g_timeout_add(1000, on_quiet, view);
}

/* Reports each time that more of the trace proves unreadable. */
static void session_report_damage(struct view *view)
{
    const struct trace_metadata *book = view_metadata(view);
    if (!view->server_link.has_run || !book->damage ||
        session_state(view)->damage_reported == book->unreadable + 1)
        return;
    session_state(view)->damage_reported = book->unreadable + 1;
    status_line_show(&view->status_line, "%s", book->damage);
}

/* Reports that the trace is a part of a run, when it is opened. */
static void session_report_cut(struct view *view)
{
    const char *cut = view_metadata(view)->run.cut;
    if (view->server_link.has_run && cut && *cut && !session_state(view)->cut_reported)
        status_line_show(&view->status_line, "%s", cut);
    session_state(view)->cut_reported = view->server_link.has_run;
}

/* Reports once per run that a newer target description is used. */
static void session_report_renewed(struct view *view)
{
    const struct trace_metadata *book = view_metadata(view);
    if (view->server_link.has_run && book->renewed && !session_state(view)->renewal_reported)
        status_line_show(&view->status_line, "%s", book->renewed);
    session_state(view)->renewal_reported = view->server_link.has_run && book->renewed;
}

static void session_on_message(void *user)
{
    struct view *view = user;
    server_link_name_lines(&view->server_link,
                           view->viewer_settings.look.labels); /* new lines in the metadata */
    session_report_renewed(view);
    session_report_cut(view);
    session_report_damage(view);
}

/* ---- connection ---- */

static void on_opening(void *user, const char *what)
{
    struct view *view = user;
    status_line_show_progress(&view->status_line, what ? what : "the default endpoint", -1);
}

static void on_opened(void *user, const char *what)
{
    struct view *view = user;
    const struct session *source = &view->server_link.source;
    status_line_show_progress(&view->status_line, NULL, 0);
    progress_row_begin(view);
    run_chooser_request(view);
    char *text = g_strdup_printf(
        source->is_file
            ? "Reading %s"
            : "Listening on %s.  Start a program:\n\n    poetcc -trace -g prodcons.c -o prodcons\n"
              "    ./prodcons\n\nor an unmodified binary:\n\n    poet record ./program",
        source->name);
    welcome_page_show(view, source->is_file ? "Opening" : "Waiting for a traced program", text);
    status_line_show(&view->status_line, "%s %s", source->is_file ? "Opened" : "Connected to",
                     source->name);
    status_line_hide_banner(&view->status_line);
    viewer_settings_remember(&view->viewer_settings, what);
    window_menu_update_recent(view);
    header_bar_show_titles(view);
    actions_update(view);
    g_free(text);
}

static void on_failed(void *user, const char *why)
{
    struct view *view = user;
    status_line_show_progress(&view->status_line, NULL, 0);
    status_line_show_problem(&view->status_line, "_Try again", "%s", why);
    if (!view->server_link.has_run)
        welcome_page_show(view, "No trace", "Open a trace file, or connect to a server.");
}

static void on_closing(void *user)
{
    struct view *view = user;
    progress_row_end(view);
    status_line_show_lag(&view->status_line, 0);
    stop_quiet(view);
    if (view->server_link.has_run)
        saved_views_keep_arrangement(view);
    session_clear_view(view);
}

static void on_lost(void *user, const char *why)
{
    struct view *view = user;
    header_bar_show_titles(view);
    diagram_view_keep_current(view);
    status_line_show_lag(&view->status_line, 0);
    status_line_show_progress(&view->status_line, NULL, 0);
    status_line_show_problem(&view->status_line, "_Reconnect",
                             "%s — showing the last received state", why);
    actions_update(view);
}

static void on_newer(void *user, const char *name) { run_chooser_on_begun(user, name); }

const struct server_link_callbacks viewer_session_callbacks = {
    .opening = on_opening,
    .opened = on_opened,
    .failed = on_failed,
    .closing = on_closing,
    .lost = on_lost,
    .run = on_run,
    .newer = on_newer,
    .updated = session_on_run_updated,
    .message = session_on_message,
};
