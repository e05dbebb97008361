#include "clients/viewer/viewer_script.h"

#include "clients/connection/session.h"
#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/analysis/analysis_pane.h"
#include "clients/viewer/diagram/canvas.h"
#include "clients/viewer/diagram/function_highlight.h"
#include "clients/viewer/diagram/line_arrangement.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/overview_overlay.h"
#include "clients/viewer/diagram/path_overlay.h"
#include "clients/viewer/diagram/range_input.h"
#include "clients/viewer/diagram/row_search.h"
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
#include "clients/viewer/state/viewport.h"
#include "clients/viewer/trace_download.h"
#include "clients/viewer/view_print.h"
#include "clients/viewer/viewer_session.h"
#include "wire/endpoint.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* poet view --script FILE: runs the commands of a file, one line after another, each when all
 * responses have arrived and were drawn; commands of one line, separated by "; ", run at once. For
 * tests, measurements and demonstrations.
 *
 *   action NAME [ARGUMENT...]  an action of the window (actions.c), or one of the list
 *                              script_actions, with arguments
 *   state PART [FILE]          appends a part of the state (script_state.c) to FILE, or prints it
 *   image FILE                 writes the diagram as PNG
 *   measure WHAT ...           prints figures:
 *       frames full|scroll N   times of N frames
 *       key ACTION N           times until the first frame that shows the event selected by the
 *                              action, and until its whole diagram was drawn
 *       glide ACTION N [BACK]  times of N frames with an action each, the second half of them BACK
 *       main-loop SECONDS      for how long GTK's main loop was blocked
 *       latency SECONDS        time from an event to the frame that shows it, of events with a text
 *                              "at NS", ns of CLOCK_MONOTONIC
 *       memory                 peak memory use of the viewer
 *   await FILE                 waits until the file exists
 *   finished                   waits until no program is connected
 *   quit
 *
 * Runs open at their end, in marks, whatever their length; unless the first line is `first-view`:
 * then as without a script. */

/* ---- actions with arguments, which a user gives with the pointer, in a dialog or an entry ---- */

/* words: the first three arguments, "" where there are fewer; text: all of them. */
struct script_arguments {
    const char *words[3];
    const char *text;
};

/* Returns an integer; 0: not a number, or too large. */
static int script_actions_integer(const char *text)
{
    gint64 v = 0;
    return g_ascii_string_to_signed(text, 10, -1000000, 1000000000, &v, NULL) ? (int)v : 0;
}

static int64_t script_actions_ns(const char *text) { return g_ascii_strtoll(text, NULL, 10); }

static double script_actions_number(const char *text) { return g_ascii_strtod(text, NULL); }

static struct event_id script_actions_event(const char *text)
{
    struct event_id at = {0, 0};
    event_id_parse(text, &at);
    return at;
}

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
    struct error error;
    if (!prompt_go_to(view, a->words[0], &error))
        status_line_show(&view->status_line, "%s", error.text);
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
    scroll_line(view, (uint32_t)script_actions_integer(a->words[0]),
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

static void script_actions_range(struct view *view, const struct script_arguments *a)
{
    time_range_set(view, &(struct view_state_range){.from_ns = script_actions_ns(a->words[0]),
                                                    .to_ns = script_actions_ns(a->words[1])});
}

static void script_actions_cursor(struct view *view, const struct script_arguments *a)
{
    time_range_place_cursor(view, script_actions_ns(a->words[0]),
                            strcmp(a->words[1], "second") == 0);
}

/* Returns the middle of a row, across the lines. */
static double script_actions_row_px(struct view *view, const char *row)
{
    uint32_t n = (uint32_t)script_actions_integer(row);
    return view->viewport.place.overview ? bands_view_y_px(view, n)
                                         : viewport_y_px(&view->viewport, n);
}

/* Drags as the pointer does: over the ruler, or with Shift over rows. */
static void script_actions_drag_range(struct view *view, const struct script_arguments *a)
{
    char **rows = g_strsplit(a->words[2], "-", 2);
    bool shift = rows[0] && rows[1];
    double names = viewport_names_px(&view->viewport),
           width = viewport_along_px(&view->viewport) - names,
           from = names + script_actions_number(a->words[0]) * width,
           to = names + script_actions_number(a->words[1]) * width,
           first = shift ? script_actions_row_px(view, rows[0]) : 5,
           last = shift ? script_actions_row_px(view, rows[1]) : 5;
    if (range_input_press(view, from, first, shift)) {
        range_input_drag(view, (from + to) / 2, first);
        range_input_drag(view, to, last);
        range_input_release(view, to, last, false);
    }
    g_strfreev(rows);
}

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
    save_diagram(view, a->words[0],
                 strcmp(a->words[1], "whole") == 0   ? EXPORT_WHOLE
                 : strcmp(a->words[1], "range") == 0 ? EXPORT_TIMES
                                                     : EXPORT_SEEN);
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
    {"select", script_actions_select}, /* EVENT */
    {"select-second", script_actions_select_second}, /* EVENT */
    {"go", script_actions_go}, /* EVENT|TIME|SHARE */
    {"find", script_actions_find}, /* TEXT */
    {"seek-rows", script_actions_seek_rows}, /* TEXT */
    {"note", script_actions_note}, /* EVENT [TEXT] */
    {"shift-line", script_actions_shift_line}, /* LINE EVENTS */
    {"move-line", script_actions_move_line}, /* LINE BEFORE */
    {"time", script_actions_time}, /* SCALE */
    {"pan", script_actions_pan}, /* X Y, in pixels */
    {"zoom", script_actions_zoom}, /* FACTOR X Y */
    {"zoom-into", script_actions_zoom_into}, /* SHARE of the overview's width */
    {"range", script_actions_range}, /* FROM TO, in ns; 0 0: the whole run */
    {"drag-range", script_actions_drag_range}, /* FROM TO, shares of the width [ROW-ROW], from 0 */
    {"cursor", script_actions_cursor}, /* NS [second] */
    {"drawer", script_actions_drawer}, /* TAB|none */
    {"select-row", script_actions_select_row}, /* N, from 0 as the server sorts them; -1: none */
    {"activate-row", script_actions_activate_row}, /* as Enter does */
    {"save-view", script_actions_save_view}, /* FILE */
    {"save-trace", script_actions_save_trace}, /* FILE */
    {"save", script_actions_save}, /* FILE seen|whole|range */
    {"save-scene", script_actions_save_scene}, /* FILE, as text */
    {"save-tab", script_actions_save_tab}, /* FILE */
};

/* Performs an action of the list, or of the window with a target or none. Returns false if there is
 * no action of that name. */
static bool script_actions_perform(struct view *view, const char *name,
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

/* ---- commands ---- */

struct viewer_script {
    struct view *view;
    char **lines;
    guint at;
    struct key_latency presses; /* of `measure key`, while it runs */
    int frames;
    bool watching;
};

#define FIRST_VIEW "first-view"
#define WORDS_MAX 5 /* of a command: its name and four more */

static void viewer_script_write_image(struct view *view, const char *file)
{
    int width = gtk_widget_get_width(view->canvas), height = gtk_widget_get_height(view->canvas);
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    cairo_t *cr = cairo_create(surface);
    canvas_draw(view, cr, width, height);
    cairo_surface_write_to_png(surface, file);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
}

/* Returns false if there is no such measurement. */
static bool viewer_script_measure(struct viewer_script *s, const char *const *w)
{
    if (strcmp(w[1], "frames") == 0)
        script_measure_frames(s->view, w[2], script_actions_integer(w[3]));
    else if (strcmp(w[1], "key") == 0)
        key_latency_begin(&s->presses, s->view, w[2], script_actions_integer(w[3]));
    else if (strcmp(w[1], "glide") == 0)
        frame_timing_begin(s->view, w[2], w[4], script_actions_integer(w[3]), &s->watching);
    else if (strcmp(w[1], "main-loop") == 0)
        script_measure_watch(g_ascii_strtod(w[2], NULL), &s->watching);
    else if (strcmp(w[1], "latency") == 0)
        script_measure_event_latency(s->view, g_ascii_strtod(w[2], NULL), &s->watching);
    else if (strcmp(w[1], "memory") == 0)
        script_measure_memory();
    else
        return false;
    return true;
}

static bool viewer_script_act(struct view *view, const char *const *w, const char *command)
{
    const char *text = command + strlen("action ") + strlen(w[1]);
    struct script_arguments arguments = {.words = {w[2], w[3], w[4]},
                                         .text = text + (*text == ' ')};
    return *w[1] && script_actions_perform(view, w[1], &arguments);
}

/* Returns false if the command is to be repeated later. */
static bool viewer_script_run_command(struct viewer_script *s, const char *command)
{
    char **words = g_strsplit(command, " ", WORDS_MAX);
    const char *w[WORDS_MAX] = {"", "", "", "", ""};
    for (int i = 0; words[i]; i++)
        w[i] = words[i];
    bool done = true, known = true;
    if (strcmp(w[0], "action") == 0)
        known = viewer_script_act(s->view, w, command);
    else if (strcmp(w[0], "state") == 0)
        known = script_state_write(s->view, w[1], w[2]);
    else if (strcmp(w[0], "image") == 0)
        viewer_script_write_image(s->view, w[1]);
    else if (strcmp(w[0], "measure") == 0)
        known = viewer_script_measure(s, w);
    else if (strcmp(w[0], "await") == 0)
        done = g_file_test(w[1], G_FILE_TEST_EXISTS);
    else if (strcmp(w[0], "finished") == 0)
        done = view_metadata(s->view)->run.connected == 0;
    else if (strcmp(w[0], "quit") == 0)
        gtk_window_close(GTK_WINDOW(s->view->window));
    else
        known = !*w[0] || *w[0] == '#' || strcmp(w[0], FIRST_VIEW) == 0;
    if (!known)
        fprintf(stderr, "poet view: --script: %s: unknown command\n", command);
    g_strfreev(words);
    return done;
}

/* Returns false if the line is to be repeated later. */
static bool viewer_script_run_line(struct viewer_script *s, const char *line)
{
    char **commands = g_strsplit(line, "; ", -1);
    bool done = true;
    for (char **command = commands; *command; command++)
        done = viewer_script_run_command(s, *command) && done;
    g_strfreev(commands);
    return done;
}

/* Returns whether all requests were answered. */
static bool script_is_settled(const struct view *view)
{
    const struct server_link *l = &view->server_link;
    return l->has_run && !l->opening && !l->more && !analysis_pane_is_busy((struct view *)view) &&
           !overview_overlay_is_busy((struct view *)view) &&
           !range_ends_is_busy((struct view *)view) && !path_overlay_is_busy((struct view *)view) &&
           !function_highlight_is_busy((struct view *)view) &&
           !event_panel_is_busy((struct view *)view) && !save_is_running(view) &&
           !trace_download_is_running(view) && (!l->connected || !session_is_busy(&l->source)) &&
           (view->scene_cache.scene || view->viewport.place.overview) &&
           viewport_along_px(&view->viewport) > 0;
}

#define FRAMES_FIRST 10 /* until a window has its size */

static gboolean on_frame(GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
    struct viewer_script *s = data;
    (void)widget;
    (void)clock;
    /* What it waits for may be idle work, which drawing would starve. */
    if (!s->frames && !script_is_settled(s->view))
        return G_SOURCE_CONTINUE;
    gtk_widget_queue_draw(s->view->canvas);
    return ++s->frames < FRAMES_FIRST ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static void free_script(gpointer data)
{
    struct viewer_script *s = data;
    g_strfreev(s->lines);
    g_free(s);
}

static gboolean on_turn(gpointer data)
{
    struct viewer_script *s = data;
    if (s->watching || s->frames < FRAMES_FIRST ||
        !(s->presses.action || script_is_settled(s->view)))
        return G_SOURCE_CONTINUE;
    if (s->presses.action) {
        key_latency_step(&s->presses);
        return G_SOURCE_CONTINUE;
    }
    const char *line = s->lines[s->at];
    if (!line)
        return G_SOURCE_REMOVE;
    bool quits = strcmp(line, "quit") == 0;
    s->at += viewer_script_run_line(s, line);
    return quits ? G_SOURCE_REMOVE : G_SOURCE_CONTINUE;
}

void viewer_script_run(struct view *view, const char *file)
{
    struct viewer_script *s = g_new0(struct viewer_script, 1);
    char *text = NULL;
    if (!g_file_get_contents(file, &text, NULL, NULL)) {
        fprintf(stderr, "poet view: %s: %s\n", file, g_strerror(errno));
        g_free(s);
        return;
    }
    s->view = view;
    s->lines = g_strsplit(g_strchomp(text), "\n", -1);
    if (g_strcmp0(s->lines[0], FIRST_VIEW) != 0)
        viewer_session_open_at_end(view);
    g_timeout_add_full(G_PRIORITY_DEFAULT, 1, on_turn, s, free_script);
    gtk_widget_add_tick_callback(view->canvas, on_frame, s, NULL);
    g_free(text);
}
