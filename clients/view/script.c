/* poet view --script FILE: does what the lines of a file say, one after the other, each when all that was
 * asked for has come and been drawn.  For tests, measurements and demonstrations.
 *
 *   action NAME [TARGET]   any action of the window (action.c)
 *   select EVENT, second EVENT, goto EVENT|TIME|SHARE, find TEXT, line LINE EVENTS, time SCALE,
 *   pan X Y, zoom FACTOR X Y, hide LINE, drop LINE BEFORE, note EVENT [TEXT]
 *   scene FILE             writes the scene as text
 *   state FILE             appends what is selected, counted, related, found
 *   spots FILE             where in the window marks, names, their arrows, the map and buttons are
 *   image FILE             writes the picture as PNG
 *   strips FILE            appends what the strips say from far away
 *   enter SHARE            goes in there: to the marks at this share of the width
 *   view FILE              saves the view
 *   save FILE seen|whole   saves the diagram
 *   save-page FILE         saves the drawer's page
 *   trace FILE             saves the trace
 *   frames FULL|SCROLL N   draws N times; prints how long a frame took
 *   key NAME N             does an action N times; prints how long it took until the first frame in which the event
 *                          that is selected then is seen, and until all of its picture was drawn (presses.h)
 *   glide NAME N [BACK]    does an action once a frame, N frames, the second half of them BACK; prints how long a
 *                          frame took (frames.h)
 *   watch SECONDS          prints how long GTK's loop was held up at most, and how often it drew
 *   late SECONDS           prints how long after they happened events were in a frame: those with a text "at NS", ns
 *                          of CLOCK_MONOTONIC
 *   drawer PAGE|none       opens the drawer at a page, or closes it
 *   look PAGE              opens it at a page, and prints what that says at once instead of rows
 *   row N                  selects the row of its table, counted from 0 as the server tells them; none: -1
 *   enter-row              what Enter does with it
 *   table FILE             writes the page's table, by tabs: depth and cells of each row, * before the selected
 *   marks FILE             appends which events and lines are marked
 *   stops FILE             appends which events have a breakpoint
 *   labels FILE            writes what the page beside the picture says
 *   overlay FILE           writes what is drawn over the picture of the critical path and of waits
 *   bands FILE             writes the states that stand below the picture, by rows and pixels
 *   curve FILE             writes what is drawn of figures above the table, a line each
 *   reason                 prints why the wait took so long that was asked about
 *   memory                 prints the most memory that the viewer has had
 *   said                   prints the status line
 *   await FILE             waits until there is such a file
 *   finished               waits until no program is connected
 *   quit */
#include "clients/view/script.h"

#include "clients/book/book.h"
#include "clients/source/source.h"
#include "clients/view/drawer/drawer.h"
#include "clients/view/fetch.h"
#include "clients/view/frames.h"
#include "clients/view/goto.h"
#include "clients/view/measure.h"
#include "clients/view/presses.h"
#include "clients/view/panels/event.h"
#include "clients/view/panels/find.h"
#include "clients/view/panels/notes.h"
#include "clients/view/panels/waiting.h"
#include "clients/view/parts/camera.h"
#include "clients/view/parts/inquiry.h"
#include "clients/view/picture/afar.h"
#include "clients/view/picture/arrange.h"
#include "clients/view/picture/strips.h"
#include "clients/view/picture/canvas.h"
#include "clients/view/picture/far.h"
#include "clients/view/picture/lit.h"
#include "clients/view/picture/scroll.h"
#include "clients/view/picture/seek.h"
#include "clients/view/picture/select.h"
#include "clients/view/picture/slide.h"
#include "clients/view/picture/thick.h"
#include "clients/view/picture/timescale.h"
#include "clients/view/picture/view.h"
#include "clients/view/picture/zoom.h"
#include "clients/view/print.h"
#include "clients/view/pulls.h"
#include "clients/view/save.h"
#include "clients/view/spots.h"
#include "clients/view/views.h"
#include "render/scene.h"
#include "wire/event.h"
#include "wire/shown.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct script {
    struct view *view;
    char **lines;
    guint at;
    struct presses presses; /* of a `key` under way */
    int frames;
    bool watching;
};

/* ---- writing ---- */

static void write_ref(FILE *f, const char *name, struct ref at)
{
    char s[48];
    ref_print(s, sizeof s, at);
    fprintf(f, " %s %s", name, at.line ? s : "none");
}

/* Who waits, what lies between two, how long the selected one's thread had waited. */
static void write_more(struct view *view, FILE *f)
{
    static const char *const worst[] = {"nobody", "some", "perhaps", "hang", "deadlock"};
    unsigned waiting;
    fprintf(f, " worst %s", worst[waiting_worst(view, &waiting)]);
    fprintf(f, " waiting %u stuck %u whole %d between %llu ns %lld", waiting,
            view->ties.stuck_count / 2, view->ties.count.whole,
            (unsigned long long)view->ties.span.events, (long long)view->ties.span.ns);
    const struct shown_event *e = stage_event(&view->stage, view->camera.place.selected);
    fprintf(f, " waited %lld", e ? (long long)e->waited_ns : -1LL);
    GtkWidget *at = gtk_window_get_focus(GTK_WINDOW(view->window));
    fprintf(f, " focus %s", at ? G_OBJECT_TYPE_NAME(at) : "none");
    fprintf(f, " drawer %s", view->settings.drawer ? page_of(drawer_page(view))->name : "none");
}

static void write_state(struct view *view, const char *file)
{
    FILE *f = fopen(file, "ae");
    if (!f)
        return;
    write_ref(f, "selected", view->camera.place.selected);
    write_ref(f, "second", view->camera.place.second);
    fprintf(f,
            " before %llu after %llu concurrent %llu same %llu related %d hits %llu unknown %llu",
            (unsigned long long)view->ties.count.before, (unsigned long long)view->ties.count.after,
            (unsigned long long)view->ties.count.concurrent,
            (unsigned long long)view->ties.count.same, view->ties.related,
            (unsigned long long)view->finder.count, (unsigned long long)view->ties.count.unknown);
    write_more(view, f);
    fprintf(f, " chain");
    for (uint32_t i = 0; i < view->ties.chain_count; i++)
        write_ref(f, "", view->ties.chain[i]);
    fprintf(f, " colours");
    for (uint32_t i = 0;
         view->stage.scene && view->stage.coloured && i < view->stage.scene->mark_count; i++) {
        const struct shown_event *e = view->stage.scene->marks[i].event;
        char s[48];
        ref_print(s, sizeof s, e->at);
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
    FILE *f = view->camera.place.far ? fopen(file, "ae") : NULL;
    if (!f)
        return;
    strips_print(view, f);
    fclose(f);
}

/* ---- doing ---- */

/* A whole number; 0 if it is none, or too large. */
static int whole(const char *s)
{
    gint64 v = 0;
    return g_ascii_string_to_signed(s, 10, -1000000, 1000000000, &v, NULL) ? (int)v : 0;
}

static void activate(struct view *view, const char *name, const char *target)
{
    g_action_group_activate_action(G_ACTION_GROUP(view->window), name,
                                   target && *target ? g_variant_new_string(target) : NULL);
}

/* wrong: what could not be done, ours; NULL: nothing. */
static void say_wrong(struct view *view, char *wrong)
{
    if (wrong)
        status_say(&view->status, "%s", wrong);
    g_free(wrong);
}

/* False: wait, and come back to this line. */
static bool perform(struct script *s, char **w)
{
    struct view *view = s->view;
    const char *a = w[1] ? w[1] : "", *b = a && *a && w[2] ? w[2] : "", *c = *b && w[3] ? w[3] : "";
    struct ref at = {0, 0};
    ref_parse(a, &at);
    if (strcmp(w[0], "action") == 0)
        activate(view, a, b);
    else if (strcmp(w[0], "select") == 0)
        select_event(view, at, false);
    else if (strcmp(w[0], "second") == 0)
        select_event(view, at, true);
    else if (strcmp(w[0], "goto") == 0)
        say_wrong(view, goto_text(view, a));
    else if (strcmp(w[0], "find") == 0)
        find_text(view, s->lines[s->at] + strlen("find "));
    else if (strcmp(w[0], "note") == 0)
        notes_keep(view, at, *b ? strstr(s->lines[s->at], a) + strlen(a) + 1 : NULL);
    else if (strcmp(w[0], "line") == 0)
        slide_line(view, (uint32_t)whole(a), whole(b));
    else if (strcmp(w[0], "time") == 0)
        timescale_set(view, g_ascii_strtod(a, NULL));
    else if (strcmp(w[0], "pan") == 0)
        scroll_pan(view, whole(a), whole(b));
    else if (strcmp(w[0], "zoom") == 0)
        zoom_by(view, g_ascii_strtod(a, NULL), whole(b), whole(c));
    else if (strcmp(w[0], "hide") == 0)
        arrange_hide(view, (uint32_t)whole(a));
    else if (strcmp(w[0], "drop") == 0)
        arrange_drop(view, (uint32_t)whole(a), (uint32_t)whole(b));
    else if (strcmp(w[0], "scene") == 0)
        print_to_file(view, a);
    else if (strcmp(w[0], "state") == 0)
        write_state(view, a);
    else if (strcmp(w[0], "spots") == 0)
        spots_write(view, a);
    else if (strcmp(w[0], "rows") == 0)
        spots_rows(view, a);
    else if (strcmp(w[0], "seek") == 0)
        seek_text(view, a);
    else if (strcmp(w[0], "image") == 0)
        write_image(view, a);
    else if (strcmp(w[0], "strips") == 0)
        write_strips(view, a);
    else if (strcmp(w[0], "enter") == 0)
        far_go_in(view,
                  camera_names_px(&view->camera) + g_ascii_strtod(a, NULL) * far_width_px(view));
    else if (strcmp(w[0], "view") == 0)
        views_write(view, a);
    else if (strcmp(w[0], "trace") == 0)
        fetch_trace_to(view, a);
    else if (strcmp(w[0], "save") == 0)
        save_export(view, a, strcmp(b, "whole") == 0);
    else if (strcmp(w[0], "frames") == 0)
        measure_frames(view, a, whole(b));
    else if (strcmp(w[0], "memory") == 0)
        measure_memory();
    else if (strcmp(w[0], "said") == 0)
        g_print("said: %s\n", status_text(&view->status));
    else if (strcmp(w[0], "glide") == 0)
        frames_begin(view, a, c, whole(b), &s->watching);
    else if (strcmp(w[0], "watch") == 0)
        measure_watch(g_ascii_strtod(a, NULL), &s->watching);
    else if (strcmp(w[0], "late") == 0)
        measure_late(view, g_ascii_strtod(a, NULL), &s->watching);
    else if (strcmp(w[0], "await") == 0)
        return g_file_test(a, G_FILE_TEST_EXISTS);
    else if (strcmp(w[0], "finished") == 0)
        return the_book(view)->run.connected == 0;
    else if (strcmp(w[0], "quit") == 0)
        gtk_window_close(GTK_WINDOW(view->window));
    else if (!pulls_perform(view, w[0], a))
        fprintf(stderr, "poet view: --script: %s: no such command\n", w[0]);
    return true;
}

/* Is all that was asked answered? */
static bool settled(const struct view *view)
{
    const struct link *l = &view->link;
    return l->has_run && !l->opening && !l->more && !drawer_busy((struct view *)view) &&
           !afar_busy((struct view *)view) && !thick_busy((struct view *)view) &&
           !lit_busy((struct view *)view) && !event_busy((struct view *)view) && !save_runs(view) &&
           !fetch_runs(view) && (!l->connected || !source_busy(&l->source)) &&
           (view->stage.scene || view->camera.place.far) && camera_along_px(&view->camera) > 0;
}

#define FRAMES_FIRST 10 /* until a window has its size */

static gboolean on_frame(GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
    struct script *s = data;
    (void)widget;
    (void)clock;
    s->frames += s->frames > 0 || settled(s->view);
    gtk_widget_queue_draw(s->view->canvas);
    return s->frames < FRAMES_FIRST ? G_SOURCE_CONTINUE : G_SOURCE_REMOVE;
}

static void free_script(gpointer data)
{
    struct script *s = data;
    g_strfreev(s->lines);
    g_free(s);
}

static gboolean on_turn(gpointer data)
{
    struct script *s = data;
    if (s->watching || s->frames < FRAMES_FIRST || !(s->presses.action || settled(s->view)))
        return G_SOURCE_CONTINUE;
    if (s->presses.action) {
        presses_step(&s->presses);
        return G_SOURCE_CONTINUE;
    }
    const char *line = s->lines[s->at];
    if (!line)
        return G_SOURCE_REMOVE;
    char **words = g_strsplit(line, " ", 4);
    bool done = true;
    if (words[0] && strcmp(words[0], "key") == 0 && words[1] && words[2]) {
        presses_begin(&s->presses, s->view, words[1], whole(words[2]));
    } else if (words[0] && *words[0] && *words[0] != '#') {
        done = perform(s, words);
    }
    bool quits = words[0] && strcmp(words[0], "quit") == 0;
    g_strfreev(words);
    s->at += done;
    return quits ? G_SOURCE_REMOVE : G_SOURCE_CONTINUE;
}

void script_run(struct view *view, const char *file)
{
    struct script *s = g_new0(struct script, 1);
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
