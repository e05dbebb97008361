#include "clients/viewer/viewer_script.h"

#include "clients/connection/session.h"
#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/action_arguments.h"
#include "clients/viewer/analysis/analysis_pane.h"
#include "clients/viewer/diagram/canvas.h"
#include "clients/viewer/diagram/function_highlight.h"
#include "clients/viewer/diagram/overview_overlay.h"
#include "clients/viewer/diagram/path_overlay.h"
#include "clients/viewer/diagram/time_range.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/diagram_export.h"
#include "clients/viewer/sidebar/panel.h"
#include "clients/viewer/state/viewport.h"
#include "clients/viewer/trace_download.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- commands ---- */

#define WORDS_MAX 5 /* of a command: its verb and four more */

struct script_command {
    const char *words[WORDS_MAX]; /* "" where there are fewer */
    const char *text; /* all that follows the verb */
};

struct viewer_script {
    struct view *view;
    char **lines;
    guint at;
    struct key_latency presses; /* of `measure key`, while it runs */
    int frames;
    bool watching;
};

enum script_result {
    SCRIPT_DONE,
    SCRIPT_AGAIN, /* to be repeated */
    SCRIPT_UNKNOWN,
    SCRIPT_DISABLED /* an action that is not possible now */
};

static enum script_result script_known(bool known) { return known ? SCRIPT_DONE : SCRIPT_UNKNOWN; }

static enum script_result script_action(struct viewer_script *s, const struct script_command *c)
{
    const char *argument = c->text + strlen(c->words[1]);
    GAction *action = g_action_map_lookup_action(G_ACTION_MAP(s->view->window), c->words[1]);
    if (action && !g_action_get_enabled(action))
        return SCRIPT_DISABLED;
    return script_known(
        action_arguments_perform(s->view, c->words[1], argument + (*argument == ' ')));
}

static enum script_result script_state(struct viewer_script *s, const struct script_command *c)
{
    return script_known(script_state_write(s->view, c->words[1], c->words[2]));
}

static enum script_result script_image(struct viewer_script *s, const struct script_command *c)
{
    GtkWidget *canvas = s->view->canvas;
    int width = gtk_widget_get_width(canvas), height = gtk_widget_get_height(canvas);
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    cairo_t *cr = cairo_create(surface);
    canvas_draw(s->view, cr, width, height);
    cairo_surface_write_to_png(surface, c->text);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
    return SCRIPT_DONE;
}

static enum script_result script_measure(struct viewer_script *s, const struct script_command *c)
{
    const char *what = c->words[1], *how = c->words[2];
    int count = atoi(c->words[3]);
    if (strcmp(what, "frames") == 0)
        script_measure_frames(s->view, how, count);
    else if (strcmp(what, "key") == 0)
        key_latency_begin(&s->presses, s->view, how, count);
    else if (strcmp(what, "glide") == 0)
        frame_timing_begin(s->view, how, c->words[4], count, &s->watching);
    else if (strcmp(what, "main-loop") == 0)
        script_measure_watch(g_ascii_strtod(how, NULL), &s->watching);
    else if (strcmp(what, "memory") == 0)
        script_measure_memory();
    else
        return SCRIPT_UNKNOWN;
    return SCRIPT_DONE;
}

static enum script_result script_await(struct viewer_script *s, const struct script_command *c)
{
    (void)s;
    return g_file_test(c->text, G_FILE_TEST_EXISTS) ? SCRIPT_DONE : SCRIPT_AGAIN;
}

static enum script_result script_finished(struct viewer_script *s, const struct script_command *c)
{
    (void)c;
    return view_metadata(s->view)->run.connected ? SCRIPT_AGAIN : SCRIPT_DONE;
}

static enum script_result script_quit(struct viewer_script *s, const struct script_command *c)
{
    (void)c;
    gtk_window_close(GTK_WINDOW(s->view->window));
    return SCRIPT_DONE;
}

/* poet view --script FILE: runs the commands of a file, one line after another, each when all
 * responses have arrived and were drawn; commands of one line, separated by "; ", run at once. For
 * tests, measurements and demonstrations; the manual page lists actions, parts and measures. */
static const struct script_verb {
    const char *name;
    enum script_result (*run)(struct viewer_script *script, const struct script_command *command);
} script_verbs[] = {
    /* NAME [ARGUMENT...]: an action of the window (actions.c, action_arguments.c) */
    {"action", script_action},
    /* PART [FILE]: appends a part of the state (script_state.c) to FILE, or prints it */
    {"state", script_state},
    /* FILE: writes the diagram as PNG */
    {"image", script_image},
    /* WHAT ...: prints figures:
     *     frames full|scroll N   times of N frames
     *     key ACTION N           times until the first frame that shows the event selected by the
     *                            action, and until its whole diagram was drawn
     *     glide ACTION N [BACK]  times of N frames with an action each, the second half of them
     *                            BACK
     *     main-loop SECONDS      for how long GTK's main loop was blocked
     *     memory                 peak memory use of the viewer */
    {"measure", script_measure},
    /* FILE: waits until the file exists */
    {"await", script_await},
    /* waits until no program is connected */
    {"finished", script_finished},
    /* closes the window */
    {"quit", script_quit},
};

/* Returns false if the command is to be repeated later. */
static bool viewer_script_run_command(struct viewer_script *s, const char *text)
{
    if (!*text || *text == '#')
        return true;
    char **words = g_strsplit(text, " ", WORDS_MAX);
    const char *rest = text + strlen(words[0]);
    struct script_command command = {.words = {"", "", "", "", ""}, .text = rest + (*rest == ' ')};
    enum script_result result = SCRIPT_UNKNOWN;
    for (int i = 0; words[i]; i++)
        command.words[i] = words[i];
    for (size_t i = 0; i < G_N_ELEMENTS(script_verbs); i++)
        if (strcmp(script_verbs[i].name, words[0]) == 0)
            result = script_verbs[i].run(s, &command);
    if (result == SCRIPT_UNKNOWN || result == SCRIPT_DISABLED)
        fprintf(stderr, "poet view: --script: %s: %s\n", text,
                result == SCRIPT_UNKNOWN ? "unknown command" : "not available now");
    g_strfreev(words);
    return result != SCRIPT_AGAIN;
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

/* Returns whether the run is shown as it opens, and all requests were answered. */
static bool script_is_settled(const struct view *view)
{
    const struct server_link *l = &view->server_link;
    return l->has_run && !l->opening && !l->more && !view->diagram_view.whole &&
           !analysis_pane_is_busy((struct view *)view) &&
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
    g_timeout_add_full(G_PRIORITY_DEFAULT, 1, on_turn, s, free_script);
    gtk_widget_add_tick_callback(view->canvas, on_frame, s, NULL);
    g_free(text);
}
