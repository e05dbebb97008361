#include "clients/viewer/action_arguments.h"

#include "clients/viewer/analysis/analysis_pane.h"
#include "clients/viewer/diagram/line_arrangement.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/range_input.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/selection.h"
#include "clients/viewer/diagram/state_bands_view.h"
#include "clients/viewer/diagram/time_range.h"
#include "clients/viewer/diagram/time_scale.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/diagram/zooming.h"
#include "clients/viewer/diagram_export.h"
#include "clients/viewer/dialogs.h"
#include "clients/viewer/saved_views.h"
#include "clients/viewer/sidebar/panel.h"
#include "clients/viewer/state/server_link.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/state/viewport.h"
#include "clients/viewer/trace_download.h"
#include "wire/endpoint.h"
#include "wire/event_types.h"

#include <gtk/gtk.h>
#include <limits.h>
#include <stdint.h>
#include <string.h>

#define ARGUMENT_WORDS 3

/* All of an argument, and its first words, "" where there are fewer. */
struct argument {
    const char *text, *words[ARGUMENT_WORDS];
};

/* Returns 0 if it is not a number, or too large. */
static int argument_integer(const char *word)
{
    gint64 v = 0;
    return g_ascii_string_to_signed(word, 10, -1000000, 1000000000, &v, NULL) ? (int)v : 0;
}

static int64_t argument_ns(const char *word) { return g_ascii_strtoll(word, NULL, 10); }
static double argument_number(const char *word) { return g_ascii_strtod(word, NULL); }

/* Returns no event if it is none. */
static struct event_id argument_event(const char *word)
{
    struct event_id at = {0, 0};
    event_id_parse(word, &at);
    return at;
}

/* Returns the line of the selected event for "" and "0". */
static uint32_t argument_line(const struct view *view, const char *word)
{
    uint32_t line = (uint32_t)argument_integer(word);
    return line ? line : view->viewport.place.selected.line;
}

/* ---- events and places ---- */

static void argument_select(struct view *view, const struct argument *a)
{
    selection_set(view, argument_event(a->words[0]), strcmp(a->words[1], "second") == 0);
}

static void argument_go(struct view *view, const struct argument *a)
{
    struct error error;
    if (!prompt_go_to(view, a->text, &error))
        status_line_show(&view->status_line, "%s", error.text);
}

static void argument_find(struct view *view, const struct argument *a)
{
    search_panel_text(view, a->text);
}

static void argument_pan(struct view *view, const struct argument *a)
{
    scroll_pan(view, argument_integer(a->words[0]), argument_integer(a->words[1]));
}

static void argument_zoom(struct view *view, const struct argument *a)
{
    zoom_by(view, argument_number(a->words[0]), argument_integer(a->words[1]),
            argument_integer(a->words[2]));
}

static void argument_zoom_into(struct view *view, const struct argument *a)
{
    overview_zoom_into_marks(view, viewport_names_px(&view->viewport) +
                                       argument_number(a->words[0]) * overview_width_px(view));
}

static void argument_time(struct view *view, const struct argument *a)
{
    time_scale_set(view, argument_number(a->words[0]));
}

static void argument_recent(struct view *view, const struct argument *a)
{
    server_link_open(&view->server_link, a->text);
}

/* ---- lines ---- */

static void argument_hide_line(struct view *view, const struct argument *a)
{
    line_arrangement_hide(view, argument_line(view, a->words[0]));
}

static void argument_line_details(struct view *view, const struct argument *a)
{
    analysis_pane_show_line(view, argument_line(view, a->words[0]));
}

static void argument_pin_line(struct view *view, const struct argument *a)
{
    line_arrangement_toggle_pin(view, argument_line(view, a->words[0]));
}

static void argument_join_line(struct view *view, const struct argument *a)
{
    line_groups_join(view, argument_line(view, a->words[0]));
}

static void argument_split_line(struct view *view, const struct argument *a)
{
    line_groups_split(view, argument_line(view, a->words[0]));
}

static void argument_line_up(struct view *view, const struct argument *a)
{
    line_arrangement_move(view, argument_line(view, a->words[0]), -1);
}

static void argument_line_down(struct view *view, const struct argument *a)
{
    line_arrangement_move(view, argument_line(view, a->words[0]), 1);
}

static void argument_move_line(struct view *view, const struct argument *a)
{
    line_arrangement_move_before(view, argument_line(view, a->words[0]),
                                 (uint32_t)argument_integer(a->words[1]));
}

static void argument_line_left(struct view *view, const struct argument *a)
{
    scroll_line(view, argument_line(view, a->words[0]), 1);
}

static void argument_line_right(struct view *view, const struct argument *a)
{
    scroll_line(view, argument_line(view, a->words[0]), -1);
}

/* ---- ranges of time ---- */

static void argument_range(struct view *view, const struct argument *a)
{
    time_range_set(view, &(struct view_state_range){.from_ns = argument_ns(a->words[0]),
                                                    .to_ns = argument_ns(a->words[1])});
}

static void argument_cursor(struct view *view, const struct argument *a)
{
    time_range_place_cursor(view, argument_ns(a->words[0]), strcmp(a->words[1], "second") == 0);
}

/* Returns the middle of a row, across the lines. */
static double argument_row_px(struct view *view, const char *row)
{
    uint32_t n = (uint32_t)argument_integer(row);
    return view->viewport.place.overview ? bands_view_y_px(view, n)
                                         : viewport_y_px(&view->viewport, n);
}

/* Drags as the pointer does: over the ruler, or with Shift over rows. */
static void argument_drag_range(struct view *view, const struct argument *a)
{
    char **rows = g_strsplit(a->words[2], "-", 2);
    bool shift = rows[0] && rows[1];
    double names = viewport_names_px(&view->viewport),
           width = viewport_along_px(&view->viewport) - names,
           from = names + argument_number(a->words[0]) * width,
           to = names + argument_number(a->words[1]) * width,
           first = shift ? argument_row_px(view, rows[0]) : 5,
           last = shift ? argument_row_px(view, rows[1]) : 5;
    if (range_input_press(view, from, first, shift)) {
        range_input_drag(view, (from + to) / 2, first);
        range_input_drag(view, to, last);
        range_input_release(view, to, last, false);
    }
    g_strfreev(rows);
}

/* ---- rows of the analysis pane ---- */

static void argument_select_row(struct view *view, const struct argument *a)
{
    gint64 row;
    if (g_ascii_string_to_signed(a->text, 10, -1, INT_MAX, &row, NULL))
        tab_select(analysis_pane_current_tab(view), (int)row);
    else
        status_line_show(&view->status_line, "\"%s\": not a row", a->text);
}

static void argument_activate_row(struct view *view, const struct argument *a)
{
    (void)a;
    tab_enter(analysis_pane_current_tab(view));
}

/* ---- files ---- */

static void argument_save(struct view *view, const struct argument *a)
{
    const char *file = a->words[0], *part = a->words[1];
    if (strcmp(part, "tab") == 0)
        tab_export_write(view, file);
    else
        save_diagram(view, file,
                     strcmp(part, "whole") == 0   ? EXPORT_WHOLE
                     : strcmp(part, "range") == 0 ? EXPORT_TIMES
                                                  : EXPORT_SEEN);
}

static void argument_save_view(struct view *view, const struct argument *a)
{
    saved_views_write(view, a->text);
}

static void argument_save_trace(struct view *view, const struct argument *a)
{
    trace_download_start(view, a->text);
}

/* ---- table ---- */

static const struct argument_action {
    const char *name;
    void (*perform)(struct view *view, const struct argument *argument);
} argument_actions[] = {
    {"select", argument_select},             /* EVENT [second]; 0:0: none */
    {"go", argument_go},                     /* EVENT|TIME|SHARE%|POSITION|#NOTE */
    {"find", argument_find},                 /* TEXT */
    {"pan", argument_pan},                   /* X Y, in pixels */
    {"zoom", argument_zoom},                 /* FACTOR X Y, in pixels */
    {"zoom-into", argument_zoom_into},       /* SHARE of the overview's width */
    {"time", argument_time},                 /* SCALE of the slider; 0: by order */
    {"hide-line", argument_hide_line},       /* [LINE]; by default the selected event's */
    {"line-details", argument_line_details}, /* [LINE] */
    {"pin-line", argument_pin_line},         /* [LINE] */
    {"join-line", argument_join_line},       /* [LINE] */
    {"split-line", argument_split_line},     /* [LINE] */
    {"line-up", argument_line_up},           /* [LINE] */
    {"line-down", argument_line_down},       /* [LINE] */
    {"line-left", argument_line_left},       /* [LINE] */
    {"line-right", argument_line_right},     /* [LINE] */
    {"move-line", argument_move_line},       /* LINE BEFORE */
    {"range", argument_range},               /* FROM TO, in ns; 0 0: the whole run */
    {"drag-range", argument_drag_range},     /* FROM TO, shares of the width [ROW-ROW], from 0 */
    {"cursor", argument_cursor},             /* NS [second] */
    {"select-row", argument_select_row},     /* N, from 0 as the server sorts them; -1: none */
    {"activate-row", argument_activate_row}, /* the selected row, as Enter does */
    {"save", argument_save},                 /* FILE [seen|whole|range|tab] */
    {"save-view", argument_save_view},       /* FILE */
    {"save-trace", argument_save_trace},     /* FILE */
    {"recent", argument_recent},               /* SOURCE */
};

/* Returns false if there is no such action with an argument. */
static bool argument_perform(struct view *view, const char *name, const char *text)
{
    char **words = g_strsplit(text, " ", ARGUMENT_WORDS);
    struct argument argument = {.text = text, .words = {"", "", ""}};
    bool found = false;
    for (int i = 0; words[i]; i++)
        argument.words[i] = words[i];
    for (size_t i = 0; i < G_N_ELEMENTS(argument_actions) && !found; i++)
        if (strcmp(argument_actions[i].name, name) == 0) {
            argument_actions[i].perform(view, &argument);
            found = true;
        }
    g_strfreev(words);
    return found;
}

static void argument_on_activate(GSimpleAction *action, GVariant *parameter, gpointer data)
{
    argument_perform(data, g_action_get_name(G_ACTION(action)),
                     g_variant_get_string(parameter, NULL));
}

void action_arguments_install(struct view *view)
{
    for (size_t i = 0; i < G_N_ELEMENTS(argument_actions); i++) {
        if (g_action_map_lookup_action(G_ACTION_MAP(view->window), argument_actions[i].name))
            continue;
        GSimpleAction *action =
            g_simple_action_new(argument_actions[i].name, G_VARIANT_TYPE_STRING);
        g_signal_connect(action, "activate", G_CALLBACK(argument_on_activate), view);
        g_action_map_add_action(G_ACTION_MAP(view->window), G_ACTION(action));
        g_object_unref(action);
    }
}

bool action_arguments_perform(struct view *view, const char *name, const char *argument)
{
    GAction *action = g_action_map_lookup_action(G_ACTION_MAP(view->window), name);
    bool takes = action && g_action_get_parameter_type(action);
    if (!takes && *argument)
        return action && argument_perform(view, name, argument);
    if (action)
        g_action_activate(action, takes ? g_variant_new_string(argument) : NULL);
    return action != NULL;
}
