#include "clients/viewer/actions.h"

#include "clients/connection/view_state.h"
#include "clients/viewer/analysis/analysis_pane.h"
#include "clients/viewer/analysis/source_tab.h"
#include "clients/viewer/diagram/breakpoints.h"
#include "clients/viewer/diagram/diagram_view.h"
#include "clients/viewer/diagram/focus.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/line_arrangement.h"
#include "clients/viewer/diagram/range_input.h"
#include "clients/viewer/diagram/range_view.h"
#include "clients/viewer/diagram/row_requests.h"
#include "clients/viewer/diagram/row_search.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/selection.h"
#include "clients/viewer/diagram/source_code.h"
#include "clients/viewer/diagram/status_card.h"
#include "clients/viewer/diagram/time_range.h"
#include "clients/viewer/diagram/time_scale.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/diagram/wait_cause.h"
#include "clients/viewer/diagram/zooming.h"
#include "clients/viewer/diagram_export.h"
#include "clients/viewer/dialogs.h"
#include "clients/viewer/saved_views.h"
#include "clients/viewer/sidebar/panel.h"
#include "clients/viewer/state/history.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/server_link.h"
#include "clients/viewer/state/viewport.h"
#include "clients/viewer/trace_download.h"
#include "clients/viewer/view_print.h"
#include "render/scene.h"
#include "wire/event_types.h"
#include "wire/request.h"
#include "wire/trace_view.h"

#include <stdlib.h>

/* ---- handlers ---- */

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

/* Arrow keys move in their direction on the screen, also if lines run down. */
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
static void do_line_left(struct view *v) { scroll_line(v, v->viewport.place.selected.line, 1); }
static void do_line_right(struct view *v) { scroll_line(v, v->viewport.place.selected.line, -1); }
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

static bool *actions_path_setting(struct view *v)
{
    return v->viewport.place.overview ? &v->viewer_settings.overview_path
                                      : &v->viewer_settings.path;
}

static void do_critical(struct view *v)
{
    bool *shown = actions_path_setting(v);
    *shown = !*shown;
    notifier_emit(&v->notifier, NOTIFY_SETTINGS);
}

static void actions_do_wait_coloring(struct view *v)
{
    v->viewer_settings.tints = !v->viewer_settings.tints;
    notifier_emit(&v->notifier, NOTIFY_SETTINGS);
}

static bool is_critical(const struct view *v) { return *actions_path_setting((struct view *)v); }
static bool actions_is_wait_coloring(const struct view *v) { return v->viewer_settings.tints; }
static void do_states(struct view *v) { analysis_pane_open(v, "states"); }
static void do_threads(struct view *v) { analysis_pane_open(v, "threads"); }
static void do_waits(struct view *v) { analysis_pane_open(v, "waits"); }
static void actions_do_locks(struct view *v) { analysis_pane_open(v, "locks"); }
static void actions_do_state(struct view *v) { analysis_pane_open(v, "state"); }
static void do_path(struct view *v) { analysis_pane_open(v, "path"); }
static void do_calls(struct view *v) { analysis_pane_open(v, "calls"); }

/* Saves the tab that has the focus, otherwise the diagram. */
static void do_save(struct view *v)
{
    if (tab_export_is_possible(v))
        tab_export_ask(v);
    else
        save_dialog_show(v);
}
static void do_source(struct view *v) { analysis_pane_open(v, "source"); }

/* Searches the tab Source if it has the focus, otherwise events. */
static void do_find(struct view *v)
{
    if (!source_tab_find(v))
        search_panel_focus(v);
}

static void do_memory(struct view *v) { analysis_pane_open(v, "memory"); }
static void actions_do_concurrency(struct view *v) { analysis_pane_open(v, "concurrency"); }
static void actions_do_usage(struct view *v) { analysis_pane_open(v, "resources"); }
static void actions_do_metrics(struct view *v) { analysis_pane_open(v, "meters"); }
static void actions_do_loops(struct view *v) { analysis_pane_open(v, "loops"); }
static void actions_do_predict(struct view *v) { analysis_pane_open(v, "predict"); }

/* Clears the range of time; then returns from a panel or the analysis pane to the diagram; there,
 * clears the selection and the search; then goes back to the first panel, and closes the analysis
 * pane. */
static void do_escape(struct view *v)
{
    bool overview = focus_within(v, v->panels),
         plain = !overview && !v->viewport.place.selected.line && !v->search.hit_count;
    if (range_input_cancel(v) || (!overview && time_range_clear(v)))
        return;
    if (analysis_pane_has_focus(v) || (plain && v->viewer_settings.drawer && panel_is_first(v))) {
        analysis_pane_close(v);
        return;
    }
    if (overview || plain)
        panel_back(v);
    if (!overview) {
        selection_set(v, (struct event_id){0, 0}, false);
        search_panel_leave(v);
        status_card_clear(v);
    }
    gtk_widget_grab_focus(v->canvas);
}

static void do_range_clear(struct view *v) { time_range_clear(v); }

static void actions_do_first_blocked(struct view *v)
{
    panel_show(v, "waiting");
    const struct event_info *oldest = blocked_panel_oldest(v);
    if (oldest)
        go_to_event(v, oldest->at, oldest->position);
}

/* ---- toggles, with their state in the view state or the settings ---- */

static void actions_do_collapse(struct view *v)
{
    history_mark(&v->history, "fold");
    scroll_anchor_keep_selected(&v->viewport);
    v->viewport.place.fold = !v->viewport.place.fold;
    notifier_emit(&v->notifier, NOTIFY_PLACE);
}

static void do_time(struct view *v)
{
    double before = v->time_scale.before > 0.5 ? v->time_scale.before : 4;
    time_scale_set(v, v->viewport.place.column_ns ? 0 : before);
}

static void actions_do_relations(struct view *v)
{
    history_mark(&v->history, "relations");
    v->viewport.place.color_relations = !v->viewport.place.color_relations;
    notifier_emit(&v->notifier, NOTIFY_LOOK);
    selection_request_colors(v);
}

static void actions_toggle_hidden(struct view *v, uint8_t what)
{
    history_mark(&v->history, "only");
    v->viewport.place.hide ^= what;
    notifier_emit(&v->notifier, NOTIFY_LOOK);
}

static void do_hide_past(struct view *v) { actions_toggle_hidden(v, HIDE_PAST); }
static void do_hide_future(struct view *v) { actions_toggle_hidden(v, HIDE_FUTURE); }
static void do_hide_concurrent(struct view *v) { actions_toggle_hidden(v, HIDE_CONCURRENT); }

static void do_panel(struct view *v)
{
    v->viewer_settings.panel = !v->viewer_settings.panel;
    notifier_emit(&v->notifier, NOTIFY_SETTINGS);
}

static void do_map(struct view *v)
{
    v->viewer_settings.map = !v->viewer_settings.map;
    notifier_emit(&v->notifier, NOTIFY_SETTINGS);
}

static void do_dark(struct view *v)
{
    v->viewer_settings.look.dark = !v->viewer_settings.look.dark;
    v->viewer_settings.dark_follows = false;
    notifier_emit(&v->notifier, NOTIFY_SETTINGS);
}

static void do_legend(struct view *v)
{
    v->viewer_settings.look.legend = !v->viewer_settings.look.legend;
    notifier_emit(&v->notifier, NOTIFY_SETTINGS);
}

static void do_order_arrows(struct view *v)
{
    v->viewer_settings.look.no_order = !v->viewer_settings.look.no_order;
    notifier_emit(&v->notifier, NOTIFY_SETTINGS);
    diagram_view_rebuild(v);
}

static bool is_order_arrows(const struct view *v) { return !v->viewer_settings.look.no_order; }
static void do_busy_rows(struct view *v)
{
    v->viewer_settings.busy_rows = !v->viewer_settings.busy_rows;
    if (v->viewer_settings.busy_rows && v->viewport.place.row_count > ROWS_AT_ONCE)
        status_line_show(&v->status_line, "Of so many rows that were arranged none is left out");
    if (!v->viewport.place.overview)
        scroll_anchor_keep_selected(&v->viewport);
    notifier_emit(&v->notifier, NOTIFY_PLACE);
    notifier_emit(&v->notifier, NOTIFY_ACTIONS);
}

static bool is_busy_rows(const struct view *v) { return v->viewer_settings.busy_rows; }
static bool actions_is_collapse(const struct view *v) { return v->viewport.place.fold; }
static bool is_time(const struct view *v) { return v->viewport.place.column_ns > 0; }
static bool actions_is_relations(const struct view *v) { return v->viewport.place.color_relations; }
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
    if (v->scene_cache.scene && !v->viewport.place.overview)
        scroll_anchor_keep_selected(&v->viewport);
    notifier_emit(&v->notifier, NOTIFY_SETTINGS);
    diagram_view_rebuild(v);
    row_scrollbar_update(v);
    notifier_emit(&v->notifier, NOTIFY_PLACE);
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

/* ---- table ---- */

const struct action action_table[] = {
    {"Navigate", "event-back", "Previous event on the line", "Left", do_back, NULL},
    {"Navigate", "event-on", "Next event on the line", "Right", do_on, NULL},
    {"Navigate", "event-up", "Event on the line above", "Up", do_up, NULL},
    {"Navigate", "event-down", "Event on the line below", "Down", do_down, NULL},
    {"Navigate", "partner", "Go to partner event", "Return KP_Enter", event_step_partner, NULL},
    {"Navigate", "cause", "Go to nearest cause on another line", "bracketleft", do_cause, NULL},
    {"Navigate", "effect", "Go to nearest effect on another line", "bracketright", do_effect, NULL},
    {"Navigate", "recorded-back", "Previous event in trace order", "p BackSpace", do_recorded_back,
     NULL},
    {"Navigate", "recorded-on", "Next event in trace order", "n space", do_recorded_on, NULL},
    {"Navigate", "recorded-into-back", "Previous event in trace order, including grouped lines",
     "<Shift>p", do_into_back, NULL},
    {"Navigate", "recorded-into-on", "Next event in trace order, including grouped lines",
     "<Shift>n", do_into_on, NULL},
    {"Scroll", "left", "Scroll left one column", "<Shift>Left", do_left, NULL},
    {"Scroll", "right", "Scroll right one column", "<Shift>Right", do_right, NULL},
    {"Scroll", "row-up", "Scroll up one row", "<Shift>Up", do_row_up, NULL},
    {"Scroll", "row-down", "Scroll down one row", "<Shift>Down", do_row_down, NULL},
    {"Scroll", "page-left", "Page left", "Page_Up", do_page_left, NULL},
    {"Scroll", "page-right", "Page right", "Page_Down", do_page_right, NULL},
    {"Scroll", "start", "Go to start", "Home", scroll_start, NULL},
    {"Scroll", "end", "Go to end and follow", "End f", do_follow, NULL},
    {"Scroll", "follow", "Toggle follow (live)", "<Shift>f", do_follow_switch, is_follow},
    {"Scroll", "line-left", "Slide selected line left", "comma", do_line_left, NULL},
    {"Scroll", "line-right", "Slide selected line right", "period", do_line_right, NULL},
    {"Scroll", "go", "Go to event, time or position…", "<Control>g", prompt_target, NULL},
    {"Zoom", "zoom-in", "Zoom in", "plus equal KP_Add <Control>plus", do_zoom_in, NULL},
    {"Zoom", "zoom-out", "Zoom out", "minus KP_Subtract <Control>minus", do_zoom_out, NULL},
    {"Zoom", "zoom-reset", "Reset zoom", "0 <Control>0", zoom_reset, NULL},
    {"Zoom", "fit", "Zoom to fit", "asterisk", zoom_fit, NULL},
    {"Zoom", "range-zoom", "Zoom to range of time", "<Shift>r", range_view_zoom, NULL},
    {"Zoom", "time", "Toggle logical order / time scale", "t", do_time, is_time},
    {"Analyze", "find", "Find", "<Control>f slash", do_find, NULL},
    {"Analyze", "find-next", "Next match", "F3 <Control><Shift>g", do_find_next, NULL},
    {"Analyze", "find-previous", "Previous match", "<Shift>F3", do_find_previous, NULL},
    {"Analyze", "first-waiting", "Go to longest-blocked thread", "w", actions_do_first_blocked,
     NULL},
    {"Analyze", "wait-cause", "Go to waker (event that ended the wait)", "<Control>bracketleft",
     do_wait_cause, NULL},
    {"Analyze", "relations", "Color causal past and future", "c", actions_do_relations,
     actions_is_relations},
    {"Analyze", "hide-past", "Hide past events", "<Alt>1", do_hide_past, is_hide_past},
    {"Analyze", "hide-future", "Hide future events", "<Alt>2", do_hide_future, is_hide_future},
    {"Analyze", "hide-concurrent", "Hide concurrent events", "<Alt>3", do_hide_concurrent,
     is_hide_concurrent},
    {"Analyze", "range", "Select time between cursors or events, or what is visible", "r",
     range_input_choose, NULL},
    {"Analyze", "range-threads", "Range of all threads", "", time_range_all_threads, NULL},
    {"Analyze", "range-copy", "Copy range as command", "", time_range_copy, NULL},
    {"Analyze", "range-link", "Copy command that opens this range", "", time_range_copy_link, NULL},
    {"Analyze", "range-clear", "Clear range and cursors", "", do_range_clear, NULL},
    {"Analyze", "cursor", "Place cursor at selected event (two cursors measure)", "m",
     time_range_place_cursor_at_event, NULL},
    {"Analyze", "note", "Add note…", "<Control>d", prompt_note, NULL},
    {"Analyze", "find-site", "Find events from this call site", "", search_panel_site, NULL},
    {"Analyze", "find-similar", "Find events like the selected one or two (pattern)", "",
     search_panel_similar, NULL},
    {"Analyze", "copy-id", "Copy event id", "", save_copy_id, NULL},
    {"Analyze", "editor", "Open source", "<Control>e", source_code_open_selected, NULL},
    {"Analyze", "debug", "Debug here (replay under gdb)", "<Shift>d", breakpoints_start_debugger,
     NULL},
    {"Analyze", "break", "Toggle breakpoint at this event", "b", breakpoints_toggle_event, NULL},
    {"Analyze", "break-place", "Toggle breakpoint at this call site (thread)", "<Shift>b",
     breakpoints_toggle_place, NULL},
    {"Analyze", "escape", "Back / clear selection", "Escape", do_escape, NULL},
    {"Lines", "show-all", "Show all", "<Control><Shift>h", line_arrangement_show_all, NULL},
    {"Lines", "only-tied", "Show only lines related to the selected event", "o",
     line_arrangement_show_tied, NULL},
    {"Lines", "least-crossing", "Sort to minimize arrow crossings", "l",
     line_arrangement_reduce_crossings, NULL},
    {"Lines", "cluster-process", "Group by process", "", do_by_process, NULL},
    {"Lines", "cluster-kind", "Group by kind", "", do_by_kind, NULL},
    {"Lines", "cluster-name", "Group by name", "", do_by_name, NULL},
    {"Lines", "cluster-pattern", "Group lines matching…", "<Shift>c", prompt_group_lines, NULL},
    {"Lines", "hide-pattern", "Hide lines matching…", "<Shift>h", prompt_hide_lines, NULL},
    {"Lines", "cluster-description", "Groups from target description", "", do_by_description, NULL},
    {"Lines", "seek-rows", "Find line by name", "<Control>r", row_search_open, NULL},
    {"Lines", "busy-rows", "Hide empty rows", "e", do_busy_rows, is_busy_rows},
    {"Lines", "fold", "Collapse repeats", "z", actions_do_collapse, actions_is_collapse},
    {"View", "undo", "Undo view change", "<Control>z", do_undo, NULL},
    {"View", "redo", "Redo view change", "<Control><Shift>z <Control>y", do_redo, NULL},
    {"View", "panel", "Side panel", "F9", do_panel, is_panel},
    {"View", "drawer", "Analysis pane", "F6", actions_do_analysis_pane, actions_is_analysis_pane},
    {"View", "critical-path", "Critical path", "x", do_critical, is_critical},
    {"View", "tint-waits", "Color waits by class", "i", actions_do_wait_coloring,
     actions_is_wait_coloring},
    {"View", "map", "Minimap", "F4", do_map, is_map},
    {"View", "vertical", "Vertical", "v", do_vertical, is_vertical},
    {"View", "legend", "Legend", "F2", do_legend, is_legend},
    {"View", "order-arrows", "Wake-up arrows", "", do_order_arrows, is_order_arrows},
    {"View", "dark", "Dark", "F7", do_dark, is_dark},
    {"View", "show-event", "Event tab", "<Alt>e", do_details, NULL},
    {"View", "show-events", "Events tab", "<Alt>l", do_events, NULL},
    {"View", "show-waiting", "Blocked tab", "<Alt>w", actions_do_blocked, NULL},
    {"View", "show-trouble", "Problems tab", "<Alt>t", actions_do_problems, NULL},
    {"View", "show-text", "Description tab", "<Alt>x", do_text, NULL},
    {"View", "show-states", "Thread States tab", "<Alt>s", do_states, NULL},
    {"View", "show-threads", "Threads tab", "<Alt>h", do_threads, NULL},
    {"View", "show-concurrency", "Concurrency tab", "<Alt>n", actions_do_concurrency, NULL},
    {"View", "show-waits", "Waits tab", "<Alt>a", do_waits, NULL},
    {"View", "show-locks", "Locks tab", "<Alt>k", actions_do_locks, NULL},
    {"View", "show-state", "State tab", "<Alt>j", actions_do_state, NULL},
    {"View", "show-path", "Critical Path tab", "<Alt>p", do_path, NULL},
    {"View", "show-calls", "Profile tab", "<Alt>c", do_calls, NULL},
    {"View", "show-loops", "Loops tab", "<Alt>i", actions_do_loops, NULL},
    {"View", "show-source", "Source tab", "<Alt>o", do_source, NULL},
    {"View", "show-memory", "Memory tab", "<Alt>m", do_memory, NULL},
    {"View", "show-resources", "Resources tab", "<Alt>r", actions_do_usage, NULL},
    {"View", "show-meters", "Metrics tab", "<Alt>u", actions_do_metrics, NULL},
    {"View", "show-predict", "Potential Bugs tab", "<Alt>y", actions_do_predict, NULL},
    {"File", "open", "Open trace…", "<Control>o", open_dialog_show_runs, NULL},
    {"File", "connect", "Connect to server…", "<Control>l", open_dialog_show_connect, NULL},
    {"File", "latest", "Open latest run", "", do_latest, NULL},
    {"File", "default", "Wait for a traced program", "", do_default, NULL},
    {"File", "run", "Run program…", "F5", run_dialog_show, NULL},
    {"File", "measure", "Measurement settings…", "<Control>m", run_dialog_edit_measurement, NULL},
    {"File", "save", "Export diagram or table…", "<Control>s", do_save, NULL},
    {"File", "share", "Export as HTML…", "", save_ask_html, NULL},
    {"File", "save-trace", "Save trace…", "<Control><Shift>s", trace_download_choose_file, NULL},
    {"File", "save-view", "Save view…", "", saved_views_save, NULL},
    {"File", "load-view", "Load view…", "", saved_views_load, NULL},
    {"File", "print", "Print…", "<Control>p", view_print_paper, NULL},
    {"File", "copy-image", "Copy image", "<Control>c", save_copy_image, NULL},
    {"File", "copy-text", "Copy as text", "<Control><Shift>c", view_print_to_clipboard, NULL},
    {"File", "copy-command", "Copy as command", "", save_copy_command, NULL},
    {"File", "settings", "Settings…", "<Control>comma", preferences_show, NULL},
    {"File", "help", "Help", "F1", help_show_page, NULL},
    {"File", "shortcuts", "Keyboard shortcuts", "<Control>question <Control><Shift>slash",
     actions_show_shortcuts, NULL},
    {"File", "about", "About Poet", "", help_show_about, NULL},
    {"File", "close", "Close", "<Control>w", do_close, NULL},
    {"File", "quit", "Quit", "<Control>q", do_quit, NULL},
};

const size_t action_table_size = G_N_ELEMENTS(action_table);

/* Keys for the line of the selected event. */
const struct line_key line_keys[] = {{"win.line-details", "Details of line", "d"},
                                     {"win.pin-line", "Pin / unpin line", "k"},
                                     {"win.hide-line", "Hide line", "h"},
                                     {"win.line-up", "Move line up", "<Alt>Up"},
                                     {"win.line-down", "Move line down", "<Alt>Down"},
                                     {"win.join-line", "Group with row above", "j"},
                                     {"win.split-line", "Ungroup", "<Shift>j"}};

const size_t line_key_count = G_N_ELEMENTS(line_keys);

static void actions_show_shortcuts(struct view *view)
{
    help_show_shortcuts(view, &(struct shortcut_tables){action_table, action_table_size, line_keys,
                                                        line_key_count});
}
