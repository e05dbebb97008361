/* poet view --script FILE: runs the commands of a file, one line after another, each when all
 * responses have arrived and were drawn; commands of one line, separated by "; ", run at once. For
 * tests, measurements and demonstrations.
 *
 *   action NAME [ARGUMENT...]  an action of the window (actions.c), or one with arguments
 *                              (script_actions.c)
 *   state PART [FILE]          appends a part of the state (script_state.c) to FILE, or prints it
 *   image FILE                 writes the diagram as PNG
 *   measure WHAT ...           prints figures:
 *       frames full|scroll N   times of N frames
 *       key ACTION N           times until the first frame that shows the event selected by the
 *                              action, and until its whole diagram was drawn (key_latency.h)
 *       glide ACTION N [BACK]  times of N frames with an action each, the second half of them BACK
 *                              (frame_timing.h)
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
#include "clients/viewer/viewer_script.h"

#include "clients/metadata/trace_metadata.h"
#include "clients/connection/session.h"
#include "clients/viewer/analysis/analysis_pane.h"
#include "clients/viewer/clipboard_save.h"
#include "clients/viewer/diagram/canvas.h"
#include "clients/viewer/diagram/function_highlight.h"
#include "clients/viewer/diagram/overview_overlay.h"
#include "clients/viewer/diagram/path_overlay.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/frame_timing.h"
#include "clients/viewer/key_latency.h"
#include "clients/viewer/script_actions.h"
#include "clients/viewer/script_measure.h"
#include "clients/viewer/script_state.h"
#include "clients/viewer/sidebar/event_panel.h"
#include "clients/viewer/state/viewport.h"
#include "clients/viewer/trace_download.h"
#include "clients/viewer/viewer_session.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct viewer_script {
    struct view *view;
    char **lines;
    guint at;
    struct key_latency presses; /* of `measure key`, while it runs */
    int frames;
    bool watching;
};

/* ---- commands ---- */

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
