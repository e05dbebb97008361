/* poet view --script FILE: runs the commands of a file, each when all responses have arrived and
 * been drawn. For tests, measurements and demonstrations.
 *
 *   action NAME [TARGET]   any action of the window (action_setup.c)
 *   select EVENT, second EVENT, goto EVENT|TIME|SHARE, find TEXT, line LINE EVENTS, time SCALE,
 *   pan X Y, zoom FACTOR X Y, hide LINE, drop LINE BEFORE, note EVENT [TEXT]
 *   scene FILE             writes the scene as text
 *   state FILE             appends the selection, its counts and relations, and the search
 *   spots FILE             writes the positions of marks, names, their arrows, the map and buttons
 *   image FILE             writes the diagram as PNG
 *   strips FILE            appends the state bands of the overview
 *   enter SHARE            zooms from the overview to the marks at this fraction of the width
 *   view FILE              saves the view
 *   save FILE seen|whole   saves the diagram
 *   save-page FILE         saves the tab of the analysis pane
 *   trace FILE             saves the trace
 *   frames FULL|SCROLL N   draws N times; prints the times of frames
 *   key NAME N             does an action N times; prints the times until the first frame that
 *                          shows the event selected by it, and until its whole diagram was drawn
 *                          (key_latency.h)
 *   glide NAME N [BACK]    does an action once a frame, N frames, the second half of them BACK;
 *                          prints the times of frames (frame_timing.h)
 *   watch SECONDS          prints for how long GTK's main loop was blocked
 *   late SECONDS           prints the time from an event to the frame that shows it, of events with
 *                          a text "at NS", ns of CLOCK_MONOTONIC
 *   drawer PAGE|none       opens the analysis pane at a tab, or closes it
 *   look PAGE              opens it at a tab, and prints its text in place of rows at once
 *   row N                  selects a row of its table, from 0 in the order of the server; -1: none
 *   enter-row              activates the selected row, as Enter does
 *   table FILE             writes the table of the tab, separated by tabs: depth and cells of each
 *                          row, * before the selected one
 *   marks FILE             appends the marked events and lines
 *   stops FILE             appends the events with a breakpoint
 *   labels FILE            writes the labels of the side panel
 *   overlay FILE           writes the critical path and the waits that are drawn over the diagram
 *   bands FILE             writes the state bands below the diagram, by rows and pixels
 *   curve FILE             writes the curve of metrics above the table, line by line
 *   reason                 prints the cause of the wait that was requested last
 *   memory                 prints the peak memory use of the viewer
 *   said                   prints the status line
 *   await FILE             waits until the file exists
 *   finished               waits until no program is connected
 *   quit */
#include "clients/viewer/viewer_script.h"

#include "clients/metadata/trace_metadata.h"
#include "clients/connection/session.h"
#include "clients/viewer/analysis/analysis_pane.h"
#include "clients/viewer/trace_download.h"
#include "clients/viewer/frame_timing.h"
#include "clients/viewer/goto_entry.h"
#include "clients/viewer/script_measure.h"
#include "clients/viewer/key_latency.h"
#include "clients/viewer/sidebar/event_panel.h"
#include "clients/viewer/sidebar/search_panel.h"
#include "clients/viewer/sidebar/notes_panel.h"
#include "clients/viewer/sidebar/blocked_panel.h"
#include "clients/viewer/state/viewport.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/diagram/overview_overlay.h"
#include "clients/viewer/diagram/line_arrangement.h"
#include "clients/viewer/diagram/state_bands_view.h"
#include "clients/viewer/diagram/canvas.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/function_highlight.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/row_search.h"
#include "clients/viewer/diagram/selection.h"
#include "clients/viewer/diagram/line_slide.h"
#include "clients/viewer/diagram/path_overlay.h"
#include "clients/viewer/diagram/time_scale.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/diagram/zooming.h"
#include "clients/viewer/view_print.h"
#include "clients/viewer/script_analysis.h"
#include "clients/viewer/clipboard_save.h"
#include "clients/viewer/script_coordinates.h"
#include "clients/viewer/saved_views.h"
#include "render/scene.h"
#include "wire/event_types.h"
#include "wire/trace_view.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct viewer_script {
    struct view *view;
    char **lines;
    guint at;
    struct key_latency presses; /* of the `key` command in progress */
    int frames;
    bool watching;
};

/* ---- output ---- */

static void write_ref(FILE *f, const char *name, struct event_id at)
{
    char s[48];
    event_id_print(s, sizeof s, at);
    fprintf(f, " %s %s", name, at.line ? s : "none");
}

/* Writes the blocked threads, the events between the two selected ones, the wait before the
 * selected one, and the focus. */
static void write_more(struct view *view, FILE *f)
{
    static const char *const worst[] = {"none", "some", "perhaps", "hang", "deadlock"};
    unsigned waiting;
    fprintf(f, " worst %s", worst[blocked_panel_worst(view, &waiting)]);
    fprintf(f, " waiting %u stuck %u whole %d between %llu ns %lld", waiting,
            view->selection_relations.stuck_count / 2, view->selection_relations.count.whole,
            (unsigned long long)view->selection_relations.span.events,
            (long long)view->selection_relations.span.ns);
    const struct event_info *e =
        scene_cache_find_event(&view->scene_cache, view->viewport.place.selected);
    fprintf(f, " waited %lld", e ? (long long)e->waited_ns : -1LL);
    GtkWidget *at = gtk_window_get_focus(GTK_WINDOW(view->window));
    fprintf(f, " focus %s", at ? G_OBJECT_TYPE_NAME(at) : "none");
    fprintf(f, " drawer %s",
            view->viewer_settings.drawer ? tab_definition(analysis_pane_current_tab(view))->name
                                         : "none");
}

static void write_state(struct view *view, const char *file)
{
    FILE *f = fopen(file, "ae");
    if (!f)
        return;
    write_ref(f, "selected", view->viewport.place.selected);
    write_ref(f, "second", view->viewport.place.second);
    fprintf(f,
            " before %llu after %llu concurrent %llu same %llu related %d hits %llu unknown %llu",
            (unsigned long long)view->selection_relations.count.before,
            (unsigned long long)view->selection_relations.count.after,
            (unsigned long long)view->selection_relations.count.concurrent,
            (unsigned long long)view->selection_relations.count.same,
            view->selection_relations.related, (unsigned long long)view->search.count,
            (unsigned long long)view->selection_relations.count.unknown);
    write_more(view, f);
    fprintf(f, " chain");
    for (uint32_t i = 0; i < view->selection_relations.chain_count; i++)
        write_ref(f, "", view->selection_relations.chain[i]);
    fprintf(f, " colours");
    for (uint32_t i = 0; view->scene_cache.scene && view->scene_cache.colored &&
                         i < view->scene_cache.scene->mark_count;
         i++) {
        const struct event_info *e = view->scene_cache.scene->marks[i].event;
        char s[48];
        event_id_print(s, sizeof s, e->at);
        fprintf(f, " %s=%u", s, e->stands);
    }
    fprintf(f, "\n");
    fclose(f);
}

static void write_image(struct view *view, const char *file)
{
    int width = gtk_widget_get_width(view->canvas), height = gtk_widget_get_height(view->canvas);
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    cairo_t *cr = cairo_create(surface);
    canvas_draw(view, cr, width, height);
    cairo_surface_write_to_png(surface, file);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
}

static void write_strips(struct view *view, const char *file)
{
    FILE *f = view->viewport.place.overview ? fopen(file, "ae") : NULL;
    if (!f)
        return;
    bands_view_print(view, f);
    fclose(f);
}

/* ---- commands ---- */

/* Returns an integer; 0: not a number, or too large. */
static int script_parse_integer(const char *s)
{
    gint64 v = 0;
    return g_ascii_string_to_signed(s, 10, -1000000, 1000000000, &v, NULL) ? (int)v : 0;
}

static void script_activate_action(struct view *view, const char *name, const char *target)
{
    g_action_group_activate_action(G_ACTION_GROUP(view->window), name,
                                   target && *target ? g_variant_new_string(target) : NULL);
}

/* Takes ownership of wrong; NULL: no error. */
static void script_report_error(struct view *view, char *wrong)
{
    if (wrong)
        status_line_show(&view->status_line, "%s", wrong);
    g_free(wrong);
}

/* Returns false if the command is to be repeated later. */
static bool script_run_command(struct viewer_script *s, char **w)
{
    struct view *view = s->view;
    const char *a = w[1] ? w[1] : "", *b = a && *a && w[2] ? w[2] : "", *c = *b && w[3] ? w[3] : "";
    struct event_id at = {0, 0};
    event_id_parse(a, &at);
    if (strcmp(w[0], "action") == 0)
        script_activate_action(view, a, b);
    else if (strcmp(w[0], "select") == 0)
        selection_set(view, at, false);
    else if (strcmp(w[0], "second") == 0)
        selection_set(view, at, true);
    else if (strcmp(w[0], "goto") == 0)
        script_report_error(view, goto_entry_apply(view, a));
    else if (strcmp(w[0], "find") == 0)
        search_panel_text(view, s->lines[s->at] + strlen("find "));
    else if (strcmp(w[0], "note") == 0)
        notes_panel_set_note(view, at, *b ? strstr(s->lines[s->at], a) + strlen(a) + 1 : NULL);
    else if (strcmp(w[0], "line") == 0)
        line_slide_shift(view, (uint32_t)script_parse_integer(a), script_parse_integer(b));
    else if (strcmp(w[0], "time") == 0)
        time_scale_set(view, g_ascii_strtod(a, NULL));
    else if (strcmp(w[0], "pan") == 0)
        scroll_pan(view, script_parse_integer(a), script_parse_integer(b));
    else if (strcmp(w[0], "zoom") == 0)
        zoom_by(view, g_ascii_strtod(a, NULL), script_parse_integer(b), script_parse_integer(c));
    else if (strcmp(w[0], "hide") == 0)
        line_arrangement_hide(view, (uint32_t)script_parse_integer(a));
    else if (strcmp(w[0], "drop") == 0)
        line_arrangement_move_before(view, (uint32_t)script_parse_integer(a),
                                     (uint32_t)script_parse_integer(b));
    else if (strcmp(w[0], "scene") == 0)
        view_print_to_file(view, a);
    else if (strcmp(w[0], "state") == 0)
        write_state(view, a);
    else if (strcmp(w[0], "spots") == 0)
        script_coordinates_write(view, a);
    else if (strcmp(w[0], "rows") == 0)
        script_coordinates_write_rows(view, a);
    else if (strcmp(w[0], "seek") == 0)
        row_search_search_text(view, a);
    else if (strcmp(w[0], "image") == 0)
        write_image(view, a);
    else if (strcmp(w[0], "strips") == 0)
        write_strips(view, a);
    else if (strcmp(w[0], "enter") == 0)
        overview_zoom_into_marks(view, viewport_names_px(&view->viewport) +
                                           g_ascii_strtod(a, NULL) * overview_width_px(view));
    else if (strcmp(w[0], "view") == 0)
        saved_views_write(view, a);
    else if (strcmp(w[0], "trace") == 0)
        trace_download_start(view, a);
    else if (strcmp(w[0], "save") == 0)
        save_diagram(view, a, strcmp(b, "whole") == 0);
    else if (strcmp(w[0], "frames") == 0)
        script_measure_frames(view, a, script_parse_integer(b));
    else if (strcmp(w[0], "memory") == 0)
        script_measure_memory();
    else if (strcmp(w[0], "said") == 0)
        g_print("said: %s\n", status_line_text(&view->status_line));
    else if (strcmp(w[0], "glide") == 0)
        frame_timing_begin(view, a, c, script_parse_integer(b), &s->watching);
    else if (strcmp(w[0], "watch") == 0)
        script_measure_watch(g_ascii_strtod(a, NULL), &s->watching);
    else if (strcmp(w[0], "late") == 0)
        script_measure_event_latency(view, g_ascii_strtod(a, NULL), &s->watching);
    else if (strcmp(w[0], "await") == 0)
        return g_file_test(a, G_FILE_TEST_EXISTS);
    else if (strcmp(w[0], "finished") == 0)
        return view_metadata(view)->run.connected == 0;
    else if (strcmp(w[0], "quit") == 0)
        gtk_window_close(GTK_WINDOW(view->window));
    else if (!script_analysis_perform(view, w[0], a))
        fprintf(stderr, "poet view: --script: %s: no such command\n", w[0]);
    return true;
}

/* Returns whether all requests were answered. */
static bool script_is_settled(const struct view *view)
{
    const struct server_link *l = &view->server_link;
    return l->has_run && !l->opening && !l->more && !analysis_pane_is_busy((struct view *)view) &&
           !overview_overlay_is_busy((struct view *)view) &&
           !path_overlay_is_busy((struct view *)view) &&
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
    s->frames += s->frames > 0 || script_is_settled(s->view);
    gtk_widget_queue_draw(s->view->canvas);
    return s->frames < FRAMES_FIRST ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
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
    char **words = g_strsplit(line, " ", 4);
    bool done = true;
    if (words[0] && strcmp(words[0], "key") == 0 && words[1] && words[2]) {
        key_latency_begin(&s->presses, s->view, words[1], script_parse_integer(words[2]));
    } else if (words[0] && *words[0] && *words[0] != '#') {
        done = script_run_command(s, words);
    }
    bool quits = words[0] && strcmp(words[0], "quit") == 0;
    g_strfreev(words);
    s->at += done;
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
    g_timeout_add_full(G_PRIORITY_DEFAULT, 1, on_turn, s, free_script);
    gtk_widget_add_tick_callback(view->canvas, on_frame, s, NULL);
    g_free(text);
}
