#include "clients/viewer/script_actions.h"

#include "clients/viewer/analysis/analysis_pane.h"
#include "clients/viewer/clipboard_save.h"
#include "clients/viewer/diagram/line_arrangement.h"
#include "clients/viewer/diagram/line_slide.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/row_search.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/selection.h"
#include "clients/viewer/diagram/time_scale.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/diagram/zooming.h"
#include "clients/viewer/goto_entry.h"
#include "clients/viewer/saved_views.h"
#include "clients/viewer/sidebar/notes_panel.h"
#include "clients/viewer/sidebar/search_panel.h"
#include "clients/viewer/state/viewport.h"
#include "clients/viewer/tab_export.h"
#include "clients/viewer/trace_download.h"
#include "clients/viewer/view_print.h"
#include "wire/event_id.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int script_actions_integer(const char *text)
{
    gint64 v = 0;
    return g_ascii_string_to_signed(text, 10, -1000000, 1000000000, &v, NULL) ? (int)v : 0;
}

static double script_actions_number(const char *text) { return g_ascii_strtod(text, NULL); }

static struct event_id script_actions_event(const char *text)
{
    struct event_id at = {0, 0};
    event_id_parse(text, &at);
    return at;
}

/* ---- events, lines and the section of the diagram ---- */

static void script_actions_select(struct view *view, const struct script_arguments *a)
{
    selection_set(view, script_actions_event(a->words[0]), false);
}

static void script_actions_select_second(struct view *view, const struct script_arguments *a)
{
    selection_set(view, script_actions_event(a->words[0]), true);
}

static void script_actions_go(struct view *view, const struct script_arguments *a)
{
    char *error = goto_entry_apply(view, a->words[0]);
    if (error)
        status_line_show(&view->status_line, "%s", error);
    g_free(error);
}

static void script_actions_find(struct view *view, const struct script_arguments *a)
{
    search_panel_text(view, a->text);
}

static void script_actions_seek_rows(struct view *view, const struct script_arguments *a)
{
    row_search_search_text(view, a->words[0]);
}

static void script_actions_note(struct view *view, const struct script_arguments *a)
{
    const char *text = *a->words[1] ? a->text + strlen(a->words[0]) + 1 : NULL;
    notes_panel_set_note(view, script_actions_event(a->words[0]), text);
}

static void script_actions_shift_line(struct view *view, const struct script_arguments *a)
{
    line_slide_shift(view, (uint32_t)script_actions_integer(a->words[0]),
                     script_actions_integer(a->words[1]));
}

static void script_actions_move_line(struct view *view, const struct script_arguments *a)
{
    line_arrangement_move_before(view, (uint32_t)script_actions_integer(a->words[0]),
                                 (uint32_t)script_actions_integer(a->words[1]));
}

static void script_actions_time(struct view *view, const struct script_arguments *a)
{
    time_scale_set(view, script_actions_number(a->words[0]));
}

static void script_actions_pan(struct view *view, const struct script_arguments *a)
{
    scroll_pan(view, script_actions_integer(a->words[0]), script_actions_integer(a->words[1]));
}

static void script_actions_zoom(struct view *view, const struct script_arguments *a)
{
    zoom_by(view, script_actions_number(a->words[0]), script_actions_integer(a->words[1]),
            script_actions_integer(a->words[2]));
}

static void script_actions_zoom_into(struct view *view, const struct script_arguments *a)
{
    overview_zoom_into_marks(view,
                             viewport_names_px(&view->viewport) +
                                 script_actions_number(a->words[0]) * overview_width_px(view));
}

/* ---- the analysis pane ---- */

static void script_actions_drawer(struct view *view, const struct script_arguments *a)
{
    if (strcmp(a->words[0], "none") == 0)
        analysis_pane_close(view);
    else
        analysis_pane_open(view, a->words[0]);
}

static void script_actions_select_row(struct view *view, const struct script_arguments *a)
{
    char *end;
    errno = 0;
    long row = strtol(a->words[0], &end, 10);
    if (end == a->words[0] || *end || errno || row < -1 || row > INT_MAX)
        fprintf(stderr, "poet view: --script: select-row: \"%s\": not a row\n", a->words[0]);
    else
        tab_select(analysis_pane_current_tab(view), (int)row);
}

static void script_actions_activate_row(struct view *view, const struct script_arguments *a)
{
    (void)a;
    tab_enter(analysis_pane_current_tab(view));
}

/* ---- files ---- */

static void script_actions_save_view(struct view *view, const struct script_arguments *a)
{
    saved_views_write(view, a->words[0]);
}

static void script_actions_save_trace(struct view *view, const struct script_arguments *a)
{
    trace_download_start(view, a->words[0]);
}

static void script_actions_save(struct view *view, const struct script_arguments *a)
{
    save_diagram(view, a->words[0], strcmp(a->words[1], "whole") == 0);
}

static void script_actions_save_scene(struct view *view, const struct script_arguments *a)
{
    view_print_to_file(view, a->words[0]);
}

static void script_actions_save_tab(struct view *view, const struct script_arguments *a)
{
    tab_export_write(view, a->words[0]);
}

static const struct script_action {
    const char *name;
    void (*perform)(struct view *view, const struct script_arguments *arguments);
} script_actions[] = {
    {"select", script_actions_select},               /* EVENT */
    {"select-second", script_actions_select_second}, /* EVENT */
    {"go", script_actions_go},                       /* EVENT|TIME|SHARE */
    {"find", script_actions_find},                   /* TEXT */
    {"seek-rows", script_actions_seek_rows},         /* TEXT */
    {"note", script_actions_note},                   /* EVENT [TEXT] */
    {"shift-line", script_actions_shift_line},       /* LINE EVENTS */
    {"move-line", script_actions_move_line},         /* LINE BEFORE */
    {"time", script_actions_time},                   /* SCALE */
    {"pan", script_actions_pan},                     /* X Y, in pixels */
    {"zoom", script_actions_zoom},                   /* FACTOR X Y */
    {"zoom-into", script_actions_zoom_into},         /* SHARE of the overview's width */
    {"drawer", script_actions_drawer},               /* TAB|none */
    {"select-row", script_actions_select_row}, /* N, from 0 as the server sorts them; -1: none */
    {"activate-row", script_actions_activate_row}, /* as Enter does */
    {"save-view", script_actions_save_view}, /* FILE */
    {"save-trace", script_actions_save_trace}, /* FILE */
    {"save", script_actions_save}, /* FILE seen|whole */
    {"save-scene", script_actions_save_scene}, /* FILE, as text */
    {"save-tab", script_actions_save_tab}, /* FILE */
};

bool script_actions_perform(struct view *view, const char *name,
                            const struct script_arguments *arguments)
{
    bool in_window = g_action_map_lookup_action(G_ACTION_MAP(view->window), name) != NULL;
    const char *target = arguments->words[0];
    for (size_t i = 0; i < G_N_ELEMENTS(script_actions); i++)
        if (strcmp(script_actions[i].name, name) == 0 && (*target || !in_window)) {
            script_actions[i].perform(view, arguments);
            return true;
        }
    if (in_window)
        g_action_group_activate_action(G_ACTION_GROUP(view->window), name,
                                       *target ? g_variant_new_string(target) : NULL);
    return in_window;
}
