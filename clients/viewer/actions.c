#include "clients/viewer/actions.h"

#include "clients/viewer/action_setup.h"

#include "clients/connection/view_state.h"
#include "clients/viewer/about_dialog.h"
#include "clients/viewer/diagram/status_card.h"
#include "clients/viewer/analysis/analysis_pane.h"
#include "clients/viewer/analysis/source_tab.h"
#include "clients/viewer/sidebar/debug_panel.h"
#include "clients/viewer/trace_download.h"
#include "clients/viewer/focus_return.h"
#include "clients/viewer/goto_entry.h"
#include "clients/viewer/keymap.h"
#include "clients/viewer/open_dialog.h"
#include "clients/viewer/sidebar/code_panel.h"
#include "clients/viewer/sidebar/search_panel.h"
#include "clients/viewer/sidebar/panel.h"
#include "clients/viewer/sidebar/blocked_panel.h"
#include "clients/viewer/state/viewport.h"
#include "clients/viewer/state/history.h"
#include "clients/viewer/state/scroll_anchor.h"
#include "clients/viewer/state/server_link.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/pattern_dialog.h"
#include "clients/viewer/diagram/line_arrangement.h"
#include "clients/viewer/diagram/row_scrollbar.h"
#include "clients/viewer/diagram/line_groups.h"
#include "clients/viewer/diagram/relation_colors.h"
#include "clients/viewer/diagram/crossing_reduction.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/diagram_view.h"
#include "clients/viewer/diagram/wait_cause.h"
#include "clients/viewer/diagram/row_requests.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/row_search.h"
#include "clients/viewer/diagram/selection.h"
#include "clients/viewer/diagram/line_slide.h"
#include "clients/viewer/diagram/event_steps.h"
#include "clients/viewer/diagram/time_scale.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/diagram/zooming.h"
#include "clients/viewer/preferences.h"
#include "clients/viewer/view_print.h"
#include "clients/viewer/run_dialog.h"
#include "clients/viewer/clipboard_save.h"
#include "clients/viewer/tab_export.h"
#include "clients/viewer/save_dialog.h"
#include "clients/viewer/html_share.h"
#include "clients/viewer/shortcut_window.h"
#include "clients/viewer/saved_runs.h"
#include "clients/viewer/saved_views.h"
#include "clients/viewer/note_editor.h"
#include "render/scene.h"
#include "wire/request_body.h"
#include "wire/event_types.h"
#include "wire/trace_view.h"

#include <stdlib.h>
#include <string.h>

/* ---- deeds that are not a function elsewhere ---- */

static void do_follow(struct view *v) { scroll_follow(v, true); }
static void do_page_left(struct view *v) { scroll_page(v, -1); }
static void do_page_right(struct view *v) { scroll_page(v, 1); }

static void do_columns(struct view *v, int n)
{
    scroll_pan(v, n * SCENE_COLUMN_PT * v->viewport.place.zoom, 0);
}

static void do_rows(struct view *v, int n)
{
    scroll_pan(v, 0, n * viewport_row_pt(&v->viewport) * v->viewport.place.zoom);
}

/* Keys point where they point, whichever way the lines run. */
static bool actions_move_turned(const struct view *v) { return viewport_vertical(&v->viewport); }
static void do_left(struct view *v) { actions_move_turned(v) ? do_rows(v, -1) : do_columns(v, -1); }
static void do_right(struct view *v) { actions_move_turned(v) ? do_rows(v, 1) : do_columns(v, 1); }
static void do_row_up(struct view *v)
{
    actions_move_turned(v) ? do_columns(v, -1) : do_rows(v, -1);
}
static void do_row_down(struct view *v)
{
    actions_move_turned(v) ? do_columns(v, 1) : do_rows(v, 1);
}
static void do_back(struct view *v)
{
    actions_move_turned(v) ? event_step_across(v, -1) : event_step_along(v, -1);
}
static void do_on(struct view *v)
{
    actions_move_turned(v) ? event_step_across(v, 1) : event_step_along(v, 1);
}
static void do_up(struct view *v)
{
    actions_move_turned(v) ? event_step_along(v, -1) : event_step_across(v, -1);
}
static void do_down(struct view *v)
{
    actions_move_turned(v) ? event_step_along(v, 1) : event_step_across(v, 1);
}

static void do_cause(struct view *v) { event_step_to(v, STEP_CAUSE); }
static void do_effect(struct view *v) { event_step_to(v, STEP_EFFECT); }
static void do_recorded_back(struct view *v) { event_step_recorded(v, -1); }
static void do_recorded_on(struct view *v) { event_step_recorded(v, 1); }
static void do_into_back(struct view *v) { event_step_recorded_into(v, -1); }
static void do_into_on(struct view *v) { event_step_recorded_into(v, 1); }
static void do_line_left(struct view *v)
{
    line_slide_shift(v, v->viewport.place.selected.line, 1);
}
static void do_line_right(struct view *v)
{
    line_slide_shift(v, v->viewport.place.selected.line, -1);
}
static void do_zoom_in(struct view *v) { zoom_by(v, 1.25, -1, -1); }
static void do_zoom_out(struct view *v) { zoom_by(v, 0.8, -1, -1); }
static void do_find_next(struct view *v) { search_panel_next(v, 1); }
static void do_find_previous(struct view *v) { search_panel_next(v, -1); }
static void actions_do_blocked(struct view *v) { panel_show(v, "waiting"); }
static void actions_do_problems(struct view *v) { panel_show(v, "trouble"); }
static void do_text(struct view *v) { panel_show(v, "text"); }
static void do_events(struct view *v) { panel_show(v, "find"); }
static void do_details(struct view *v) { panel_show(v, "event"); }
static void do_latest(struct view *v) { server_link_open(&v->server_link, "latest"); }
static void do_default(struct view *v) { server_link_open(&v->server_link, NULL); }
static void do_undo(struct view *v) { history_undo(&v->history); }
static void do_redo(struct view *v) { history_redo(&v->history); }
static void do_close(struct view *v) { gtk_window_close(GTK_WINDOW(v->window)); }
static void do_quit(struct view *v) { do_close(v); } /* there is one window */
static void do_by_process(struct view *v) { line_groups_by(v, GROUP_BY_PROCESS); }
static void do_by_kind(struct view *v) { line_groups_by(v, GROUP_BY_KIND); }
static void do_by_name(struct view *v) { line_groups_by(v, GROUP_BY_NAME); }
static void do_by_description(struct view *v) { line_groups_by(v, GROUP_BY_DESCRIPTION); }

static void actions_do_analysis_pane(struct view *v)
{
    v->viewer_settings.drawer ? analysis_pane_close(v) : analysis_pane_open(v, NULL);
}
static bool actions_is_analysis_pane(const struct view *v) { return v->viewer_settings.drawer; }
static void do_wait_cause(struct view *v) { wait_cause_go_to(v); }

static void do_critical(struct view *v)
{
    v->viewer_settings.path = !v->viewer_settings.path;
    notify_listener(&v->listener, NOTIFY_SETTINGS);
}

static void actions_do_wait_coloring(struct view *v)
{
    v->viewer_settings.tints = !v->viewer_settings.tints;
    notify_listener(&v->listener, NOTIFY_SETTINGS);
}

static bool is_critical(const struct view *v) { return v->viewer_settings.path; }
static bool actions_is_wait_coloring(const struct view *v) { return v->viewer_settings.tints; }
static void do_states(struct view *v) { analysis_pane_open(v, "states"); }
static void do_waits(struct view *v) { analysis_pane_open(v, "waits"); }
static void do_path(struct view *v) { analysis_pane_open(v, "path"); }
static void do_calls(struct view *v) { analysis_pane_open(v, "calls"); }

/* What has the focus. */
static void do_save(struct view *v)
{
    if (tab_export_is_possible(v))
        tab_export_ask(v);
    else
        save_dialog_show(v);
}
static void do_source(struct view *v) { analysis_pane_open(v, "source"); }

/* In the source, where that has the focus. */
static void do_find(struct view *v)
{
    if (!source_tab_find(v))
        search_panel_focus(v);
}

static void do_memory(struct view *v) { analysis_pane_open(v, "memory"); }
static void actions_do_usage(struct view *v) { analysis_pane_open(v, "resources"); }
static void actions_do_metrics(struct view *v) { analysis_pane_open(v, "meters"); }
static void actions_do_predict(struct view *v) { analysis_pane_open(v, "predict"); }

/* From a list to the picture; there, all that stands out goes; then the page that was opened, and
 * the drawer. */
static void do_escape(struct view *v)
{
    bool away = focus_within(v, v->panels),
         plain = !away && !v->viewport.place.selected.line && !v->search.hit_count;
    if (analysis_pane_has_focus(v) || (plain && v->viewer_settings.drawer && panel_is_first(v))) {
        analysis_pane_close(v);
        return;
    }
    if (away || plain)
        panel_back(v);
    if (!away) {
        selection_set(v, (struct event_id){0, 0}, false);
        search_panel_leave(v);
        status_card_clear(v);
    }
    gtk_widget_grab_focus(v->canvas);
}

static void actions_do_first_blocked(struct view *v)
{
    panel_show(v, "waiting");
    const struct event_info *oldest = blocked_panel_oldest(v);
    if (oldest)
        go_to_event(v, oldest->at, oldest->position);
}

/* ---- switches: their state is in the place or the settings ---- */

static void actions_do_collapse(struct view *v)
{
    history_mark(&v->history, "fold");
    scroll_anchor_keep_selected(&v->viewport);
    v->viewport.place.fold = !v->viewport.place.fold;
    notify_listener(&v->listener, NOTIFY_PLACE);
}

static void do_time(struct view *v)
{
    double before = v->time_scale.before > 0.5 ? v->time_scale.before : 4;
    time_scale_set(v, v->viewport.place.column_ns ? 0 : before);
}

static void actions_do_relations(struct view *v)
{
    history_mark(&v->history, "stands");
    v->viewport.place.stands = !v->viewport.place.stands;
    notify_listener(&v->listener, NOTIFY_LOOK);
    relation_colors_request(v);
}

static void actions_toggle_hidden(struct view *v, uint8_t what)
{
    history_mark(&v->history, "only");
    v->viewport.place.hide ^= what;
    notify_listener(&v->listener, NOTIFY_LOOK);
}

static void do_hide_past(struct view *v) { actions_toggle_hidden(v, HIDE_PAST); }
static void do_hide_future(struct view *v) { actions_toggle_hidden(v, HIDE_FUTURE); }
static void do_hide_concurrent(struct view *v) { actions_toggle_hidden(v, HIDE_CONCURRENT); }

static void do_panel(struct view *v)
{
    v->viewer_settings.panel = !v->viewer_settings.panel;
    notify_listener(&v->listener, NOTIFY_SETTINGS);
}

static void do_map(struct view *v)
{
    v->viewer_settings.map = !v->viewer_settings.map;
    notify_listener(&v->listener, NOTIFY_SETTINGS);
}

static void do_dark(struct view *v)
{
    v->viewer_settings.look.dark = !v->viewer_settings.look.dark;
    v->viewer_settings.dark_follows = false;
    notify_listener(&v->listener, NOTIFY_SETTINGS);
}

static void do_legend(struct view *v)
{
    v->viewer_settings.look.legend = !v->viewer_settings.look.legend;
    notify_listener(&v->listener, NOTIFY_SETTINGS);
}

static void do_order_arrows(struct view *v)
{
    v->viewer_settings.look.no_order = !v->viewer_settings.look.no_order;
    notify_listener(&v->listener, NOTIFY_SETTINGS);
    diagram_view_rebuild(v);
}

static bool is_order_arrows(const struct view *v) { return !v->viewer_settings.look.no_order; }
static void do_busy_rows(struct view *v)
{
    v->viewer_settings.busy_rows = !v->viewer_settings.busy_rows;
    if (v->viewer_settings.busy_rows && v->viewport.place.row_count > ROWS_AT_ONCE)
        status_line_show(&v->status_line, "Of so many rows that were arranged none is left out");
    if (!v->viewport.place.far)
        scroll_anchor_keep_selected(&v->viewport);
    notify_listener(&v->listener, NOTIFY_PLACE);
    notify_listener(&v->listener, NOTIFY_ACTIONS);
}

static bool is_busy_rows(const struct view *v) { return v->viewer_settings.busy_rows; }
static bool actions_is_collapse(const struct view *v) { return v->viewport.place.fold; }
static bool is_time(const struct view *v) { return v->viewport.place.column_ns > 0; }
static bool actions_is_relations(const struct view *v) { return v->viewport.place.stands; }
static bool is_hide_past(const struct view *v) { return v->viewport.place.hide & HIDE_PAST; }
static bool is_hide_future(const struct view *v) { return v->viewport.place.hide & HIDE_FUTURE; }
static bool is_hide_concurrent(const struct view *v)
{
    return v->viewport.place.hide & HIDE_CONCURRENT;
}
static bool is_panel(const struct view *v) { return v->viewer_settings.panel; }
static bool is_map(const struct view *v) { return v->viewer_settings.map; }
static void do_vertical(struct view *v)
{
    v->viewer_settings.look.vertical = !v->viewer_settings.look.vertical;
    if (v->scene_cache.scene && !v->viewport.place.far)
        scroll_anchor_keep_selected(&v->viewport);
    notify_listener(&v->listener, NOTIFY_SETTINGS);
    diagram_view_rebuild(v);
    row_scrollbar_update(v);
    notify_listener(&v->listener, NOTIFY_PLACE);
}

static bool is_vertical(const struct view *v) { return v->viewer_settings.look.vertical; }
static bool is_dark(const struct view *v) { return v->viewer_settings.look.dark; }
static bool is_legend(const struct view *v) { return v->viewer_settings.look.legend; }
bool actions_run_is_live(const struct view *v)
{
    return v->server_link.source.book.run.connected > 0;
}
static bool is_follow(const struct view *v)
{
    return v->viewport.place.follow && actions_run_is_live(v);
}
static void do_follow_switch(struct view *v) { scroll_follow(v, !v->viewport.place.follow); }

static void actions_show_shortcuts(struct view *view);

/* ---- the table ---- */

const struct action action_table[] = {
    {"Moving", "event-back", "The selected event: back along its line", "Left", do_back, NULL},
    {"Moving", "event-on", "On along its line", "Right", do_on, NULL},
    {"Moving", "event-up", "To the line above", "Up", do_up, NULL},
    {"Moving", "event-down", "To the line below", "Down", do_down, NULL},
    {"Moving", "partner", "Go to the other end", "Return KP_Enter", event_step_partner, NULL},
    {"Moving", "cause", "To the nearest cause on another line", "bracketleft", do_cause, NULL},
    {"Moving", "effect", "To the nearest effect on another line", "bracketright", do_effect, NULL},
    {"Moving", "recorded-back", "Back along the recorded order", "p BackSpace", do_recorded_back,
     NULL},
    {"Moving", "recorded-on", "On along the recorded order", "n space", do_recorded_on, NULL},
    {"Moving", "recorded-into-back", "Back along it, into clusters", "<Shift>p", do_into_back,
     NULL},
    {"Moving", "recorded-into-on", "On along it, into clusters", "<Shift>n", do_into_on, NULL},
    {"Scrolling", "left", "Left by a column", "<Shift>Left", do_left, NULL},
    {"Scrolling", "right", "Right by a column", "<Shift>Right", do_right, NULL},
    {"Scrolling", "row-up", "Up by a row", "<Shift>Up", do_row_up, NULL},
    {"Scrolling", "row-down", "Down by a row", "<Shift>Down", do_row_down, NULL},
    {"Scrolling", "page-left", "Left by a page", "Page_Up", do_page_left, NULL},
    {"Scrolling", "page-right", "Right by a page", "Page_Down", do_page_right, NULL},
    {"Scrolling", "start", "To the begin", "Home", scroll_start, NULL},
    {"Scrolling", "end", "To the end, and follow the run", "End f", do_follow, NULL},
    {"Scrolling", "follow", "Follow the run, or stop it", "<Shift>f", do_follow_switch, is_follow},
    {"Scrolling", "line-left", "The selected line alone, to the left", "comma", do_line_left, NULL},
    {"Scrolling", "line-right", "The selected line alone, to the right", "period", do_line_right,
     NULL},
    {"Scrolling", "go", "Go to an event, a time, a share of the run…", "<Control>g",
     goto_entry_show, NULL},
    {"Zoom", "zoom-in", "Zoom in", "plus equal KP_Add <Control>plus", do_zoom_in, NULL},
    {"Zoom", "zoom-out", "Zoom out", "minus KP_Subtract <Control>minus", do_zoom_out, NULL},
    {"Zoom", "zoom-reset", "Zoom as at first", "0 <Control>0", zoom_reset, NULL},
    {"Zoom", "fit", "The whole run", "asterisk", zoom_fit, NULL},
    {"Zoom", "time", "By order or by time", "t", do_time, is_time},
    {"Asking", "find", "Find", "<Control>f slash", do_find, NULL},
    {"Asking", "find-next", "The next hit", "F3 <Control><Shift>g", do_find_next, NULL},
    {"Asking", "find-previous", "The hit before", "<Shift>F3", do_find_previous, NULL},
    {"Asking", "first-waiting", "Who waits: the oldest", "w", actions_do_first_blocked, NULL},
    {"Asking", "wait-cause", "To what ended the wait", "<Control>bracketleft", do_wait_cause, NULL},
    {"Asking", "stands", "Colour past and future", "c", actions_do_relations, actions_is_relations},
    {"Asking", "hide-past", "Hide the past", "<Alt>1", do_hide_past, is_hide_past},
    {"Asking", "hide-future", "Hide the future", "<Alt>2", do_hide_future, is_hide_future},
    {"Asking", "hide-concurrent", "Hide concurrent", "<Alt>3", do_hide_concurrent,
     is_hide_concurrent},
    {"Asking", "note", "Write a note…", "<Control>d", note_editor_open, NULL},
    {"Asking", "find-site", "Find all called from there", "", search_panel_site, NULL},
    {"Asking", "copy-id", "Copy the event's number", "", save_copy_id, NULL},
    {"Asking", "editor", "Open the source", "<Control>e", code_panel_open_editor, NULL},
    {"Asking", "debug", "Debug here: poet debug in a terminal", "<Shift>d", debug_panel_start,
     NULL},
    {"Asking", "break", "A breakpoint of it for the debugger, or none", "b",
     debug_panel_toggle_breakpoint, NULL},
    {"Asking", "break-place", "The same of its place, for its thread", "<Shift>b",
     debug_panel_toggle_place, NULL},
    {"Asking", "escape", "Back: from a page, from a search, from what is selected", "Escape",
     do_escape, NULL},
    {"Lines", "show-all", "Show all", "<Control><Shift>h", line_arrangement_show_all, NULL},
    {"Lines", "only-tied", "Only those tied to the selected event", "o", line_arrangement_show_tied,
     NULL},
    {"Lines", "least-crossing", "In the order of least crossing", "l", crossing_reduction_run,
     NULL},
    {"Lines", "cluster-process", "Clusters by process", "", do_by_process, NULL},
    {"Lines", "cluster-kind", "Clusters by kind", "", do_by_kind, NULL},
    {"Lines", "cluster-name", "Clusters by name", "", do_by_name, NULL},
    {"Lines", "cluster-pattern", "Join lines by their names…", "<Shift>c", pattern_dialog_join,
     NULL},
    {"Lines", "hide-pattern", "Hide lines by their names…", "<Shift>h", pattern_dialog_hide, NULL},
    {"Lines", "cluster-description", "Clusters of the description", "", do_by_description, NULL},
    {"Lines", "seek-rows", "Search rows by name", "<Control>r", row_search_open, NULL},
    {"Lines", "busy-rows", "Only rows with something in view", "e", do_busy_rows, is_busy_rows},
    {"Lines", "fold", "Fold repeats", "z", actions_do_collapse, actions_is_collapse},
    {"Window", "undo", "Undo a change of view", "<Control>z", do_undo, NULL},
    {"Window", "redo", "Redo", "<Control><Shift>z <Control>y", do_redo, NULL},
    {"Window", "panel", "Side panel", "F9", do_panel, is_panel},
    {"Window", "drawer", "Drawer: where the time went", "F6", actions_do_analysis_pane,
     actions_is_analysis_pane},
    {"Window", "critical-path", "The critical path", "x", do_critical, is_critical},
    {"Window", "tint-waits", "Tint waits by class", "i", actions_do_wait_coloring,
     actions_is_wait_coloring},
    {"Window", "map", "Map of the run", "F4", do_map, is_map},
    {"Window", "vertical", "Vertical", "v", do_vertical, is_vertical},
    {"Window", "legend", "Legend", "F2", do_legend, is_legend},
    {"Window", "order-arrows", "Dotted arrows: who woke whom", "", do_order_arrows,
     is_order_arrows},
    {"Window", "dark", "Dark", "F7", do_dark, is_dark},
    {"Window", "show-event", "Page: Event", "<Alt>e", do_details, NULL},
    {"Window", "show-events", "Page: Events", "<Alt>l", do_events, NULL},
    {"Window", "show-waiting", "Page: Waiting", "<Alt>w", actions_do_blocked, NULL},
    {"Window", "show-trouble", "Page: Trouble", "<Alt>t", actions_do_problems, NULL},
    {"Window", "show-text", "Page: Text", "<Alt>x", do_text, NULL},
    {"Window", "show-states", "Drawer: States", "<Alt>s", do_states, NULL},
    {"Window", "show-waits", "Drawer: Waits", "<Alt>a", do_waits, NULL},
    {"Window", "show-path", "Drawer: Path", "<Alt>p", do_path, NULL},
    {"Window", "show-calls", "Drawer: Calls", "<Alt>c", do_calls, NULL},
    {"Window", "show-source", "Drawer: Source", "<Alt>o", do_source, NULL},
    {"Window", "show-memory", "Drawer: Memory", "<Alt>m", do_memory, NULL},
    {"Window", "show-resources", "Drawer: Resources", "<Alt>r", actions_do_usage, NULL},
    {"Window", "show-meters", "Drawer: Meters", "<Alt>u", actions_do_metrics, NULL},
    {"Window", "show-predict", "Drawer: Potential Bugs", "<Alt>y", actions_do_predict, NULL},
    {"File", "open", "Open a trace…", "<Control>o", saved_runs_show, NULL},
    {"File", "connect", "Connect to a server…", "<Control>l", open_dialog_show_connect, NULL},
    {"File", "latest", "Open the latest run", "", do_latest, NULL},
    {"File", "default", "Wait for a program", "", do_default, NULL},
    {"File", "run", "Run a program…", "F5", run_dialog_show, NULL},
    {"File", "measure", "What is measured…", "<Control>m", run_dialog_edit_measurement, NULL},
    {"File", "save", "Save the diagram, or the drawer's page…", "<Control>s", do_save, NULL},
    {"File", "share", "Share as web page…", "", html_share_ask, NULL},
    {"File", "save-trace", "Save the trace…", "<Control><Shift>s", trace_download_choose_file,
     NULL},
    {"File", "save-view", "Save the view…", "", saved_views_save, NULL},
    {"File", "load-view", "Load a view…", "", saved_views_load, NULL},
    {"File", "print", "Print…", "<Control>p", view_print_paper, NULL},
    {"File", "copy-image", "Copy the picture", "<Control>c", save_copy_image, NULL},
    {"File", "copy-text", "Copy as text", "<Control><Shift>c", view_print_to_clipboard, NULL},
    {"File", "copy-command", "Copy as a command", "", save_copy_command, NULL},
    {"File", "settings", "Settings…", "<Control>comma", preferences_show, NULL},
    {"File", "help", "Help", "F1", about_dialog_show_help, NULL},
    {"File", "shortcuts", "Keyboard shortcuts", "<Control>question <Control><Shift>slash",
     actions_show_shortcuts, NULL},
    {"File", "about", "About Poet", "", about_dialog_show, NULL},
    {"File", "close", "Close", "<Control>w", do_close, NULL},
    {"File", "quit", "Quit", "<Control>q", do_quit, NULL},
};

const size_t action_table_size = G_N_ELEMENTS(action_table);

/* Those for the line of the selected event. */
const struct line_key line_keys[] = {
    {"win.pin-line", "Pin the selected line on top, or let it go", "k"},
    {"win.hide-line", "Hide the selected line", "h"},
    {"win.line-up", "Move it up", "<Alt>Up"},
    {"win.line-down", "Move it down", "<Alt>Down"},
    {"win.join-line", "Join it with the row above", "j"},
    {"win.split-line", "Open its cluster", "<Shift>j"}};

const size_t line_key_count = G_N_ELEMENTS(line_keys);

static void actions_show_shortcuts(struct view *view)
{
    shortcut_window_show(view, &(struct shortcut_tables){action_table, action_table_size, line_keys,
                                                         line_key_count});
}
