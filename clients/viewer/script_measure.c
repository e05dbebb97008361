/* Measurements for scripts: drawing times, times of frames and keys, delays of GTK's main loop, and
 * memory, which are printed. */
#include "clients/viewer/viewer_script.h"

#include "clients/viewer/analysis/analysis_pane.h"
#include "clients/viewer/analysis/band_rows.h"
#include "clients/viewer/analysis/tab.h"
#include "clients/viewer/diagram/canvas.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/state/viewport.h"
#include "render/scene.h"

#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

static int script_measure_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Prints the median and the maximum of times (double, ms), and sorts them; prints nothing if
 * empty. */
static void script_measure_report(const char *what, GArray *times)
{
    if (!times->len)
        return;
    g_array_sort(times, script_measure_compare);
    const double *t = (const double *)(gpointer)times->data;
    printf("%s: median %.2f ms, p99 %.2f ms, most %.2f ms (%u)\n", what, t[times->len / 2],
           t[times->len - 1 - times->len / 100], t[times->len - 1], times->len);
    fflush(stdout);
}

/* Draws the diagram, and the bands below it, once, off-screen. */
static void script_measure_draw(struct view *view)
{
    int width = gtk_widget_get_width(view->canvas), height = gtk_widget_get_height(view->canvas);
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    cairo_t *cr = cairo_create(surface);
    canvas_draw(view, cr, width, height);
    if (view->viewer_settings.drawer &&
        tab_definition(analysis_pane_current_tab(view)) == &page_states &&
        band_rows_are_shown(view))
        band_rows_draw(view, cr, width);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
}

void script_measure_frames(struct view *view, const char *how, int count)
{
    GArray *times = g_array_new(FALSE, FALSE, sizeof(double));
    bool full = g_ascii_strcasecmp(how, "full") == 0;
    double step = SCENE_COLUMN_PT * view->viewport.place.zoom;
    for (int i = 0; i < count; i++) {
        gint64 begin = g_get_monotonic_time();
        if (full)
            view->scene_cache.serial++;
        else
            scroll_pan(view, i / 8 % 2 ? -step : step, 0);
        script_measure_draw(view);
        double ms = (double)(g_get_monotonic_time() - begin) / 1000;
        g_array_append_val(times, ms);
    }
    char *what = g_strdup_printf("frame, %s, %u marks", how,
                                 view->scene_cache.scene ? view->scene_cache.scene->mark_count : 0);
    script_measure_report(what, times);
    g_free(what);
    g_array_free(times, TRUE);
}

void script_measure_memory(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("memory: %ld MB\n", usage.ru_maxrss / 1000);
    fflush(stdout);
}

/* A timer of 5 ms; its delays show how long the main loop was blocked. */
struct loop_watch {
    bool *watching;
    gint64 until, last;
    GArray *times;
};

static gboolean script_measure_on_beat(gpointer data)
{
    struct loop_watch *w = data;
    gint64 now = g_get_monotonic_time();
    double ms = (double)(now - w->last) / 1000;
    w->last = now;
    g_array_append_val(w->times, ms);
    if (now < w->until)
        return G_SOURCE_CONTINUE;
    script_measure_report("between two beats of 5 ms", w->times);
    *w->watching = false;
    g_array_free(w->times, TRUE);
    g_free(w);
    return G_SOURCE_REMOVE;
}

void script_measure_watch(double seconds, bool *watching)
{
    struct loop_watch *w = g_new0(struct loop_watch, 1);
    w->watching = watching;
    w->last = g_get_monotonic_time();
    w->until = w->last + (gint64)(seconds * 1e6);
    w->times = g_array_new(FALSE, FALSE, sizeof(double));
    *watching = true;
    g_timeout_add_full(G_PRIORITY_HIGH, 5, script_measure_on_beat, w, NULL);
}

/* ---- frame timing ---- */

struct frame_timing {
    struct view *view;
    char *action, *back;
    int left, count;
    bool *running;
    bool begun; /* the action was done in this frame */
    gint64 begin_us, cpu_us, last_us; /* last_us: the end of the previous frame, 0: none */
    GArray *times, *cpu, *gaps; /* ms */
    gulong before, after;
    guint tick;
};

static gint64 frame_timing_cpu_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (gint64)t.tv_sec * G_USEC_PER_SEC + t.tv_nsec / 1000;
}

static void frame_timing_add_time(GArray *times, gint64 us)
{
    double ms = (double)us / 1000;
    g_array_append_val(times, ms);
}

static void frame_timing_print_times(const struct frame_timing *f, const char *what, GArray *times)
{
    char *name = g_strdup_printf("%s, %s", what, f->action);
    script_measure_report(name, times);
    g_array_free(times, TRUE);
    g_free(name);
}

static void frame_timing_finish(struct frame_timing *f)
{
    GdkFrameClock *clock = gtk_widget_get_frame_clock(f->view->canvas);
    g_signal_handler_disconnect(clock, f->before);
    g_signal_handler_disconnect(clock, f->after);
    gtk_widget_remove_tick_callback(f->view->canvas, f->tick);
    frame_timing_print_times(f, "frame", f->times);
    frame_timing_print_times(f, "of the processor", f->cpu);
    frame_timing_print_times(f, "from frame to frame", f->gaps);
    *f->running = false;
    g_free(f->action);
    g_free(f->back);
    g_free(f);
}

static void frame_timing_on_before(GdkFrameClock *clock, gpointer data)
{
    struct frame_timing *f = data;
    (void)clock;
    f->begin_us = g_get_monotonic_time();
    f->cpu_us = frame_timing_cpu_us();
    f->begun = false;
}

static gboolean frame_timing_on_tick(GtkWidget *widget, GdkFrameClock *clock, gpointer data)
{
    struct frame_timing *f = data;
    (void)widget;
    (void)clock;
    bool back = f->back && f->left <= f->count / 2;
    f->begun = true;
    g_action_group_activate_action(G_ACTION_GROUP(f->view->window), back ? f->back : f->action,
                                   NULL);
    return G_SOURCE_CONTINUE;
}

static void frame_timing_on_after(GdkFrameClock *clock, gpointer data)
{
    struct frame_timing *f = data;
    gint64 now = g_get_monotonic_time();
    (void)clock;
    if (!f->begun)
        return;
    frame_timing_add_time(f->times, now - f->begin_us);
    frame_timing_add_time(f->cpu, frame_timing_cpu_us() - f->cpu_us);
    if (f->last_us)
        frame_timing_add_time(f->gaps, now - f->last_us);
    f->last_us = now;
    if (--f->left <= 0)
        frame_timing_finish(f);
}

void frame_timing_begin(struct view *view, const char *action, const char *back, int count,
                        bool *running)
{
    struct frame_timing *f = g_new0(struct frame_timing, 1);
    GdkFrameClock *clock = gtk_widget_get_frame_clock(view->canvas);
    *f = (struct frame_timing){.view = view,
                               .action = g_strdup(action),
                               .back = back && *back ? g_strdup(back) : NULL,
                               .left = count,
                               .count = count,
                               .running = running};
    f->times = g_array_new(FALSE, FALSE, sizeof(double));
    f->cpu = g_array_new(FALSE, FALSE, sizeof(double));
    f->gaps = g_array_new(FALSE, FALSE, sizeof(double));
    f->before = g_signal_connect(clock, "before-paint", G_CALLBACK(frame_timing_on_before), f);
    f->after = g_signal_connect(clock, "after-paint", G_CALLBACK(frame_timing_on_after), f);
    f->tick = gtk_widget_add_tick_callback(view->canvas, frame_timing_on_tick, f, NULL);
    *running = true;
}

/* ---- key latency ---- */

static void key_latency_on_painted(GdkFrameClock *clock, gpointer data)
{
    struct key_latency *p = data;
    (void)clock;
    p->resting = false;
}

void key_latency_begin(struct key_latency *p, struct view *view, const char *action, int count)
{
    *p = (struct key_latency){.view = view, .action = g_strdup(action), .left = count};
    p->times = g_array_new(FALSE, FALSE, sizeof(double));
    p->firsts = g_array_new(FALSE, FALSE, sizeof(double));
    p->painted = g_signal_connect(gtk_widget_get_frame_clock(view->canvas), "after-paint",
                                  G_CALLBACK(key_latency_on_painted), p);
}

static void key_latency_finish(struct key_latency *p)
{
    char *first = g_strdup_printf("first frame, %s", p->action),
         *whole = g_strdup_printf("key to picture, %s", p->action);
    script_measure_report(first, p->firsts);
    script_measure_report(whole, p->times);
    g_free(first);
    g_free(whole);
    g_signal_handler_disconnect(gtk_widget_get_frame_clock(p->view->canvas), p->painted);
    g_array_free(p->times, TRUE);
    g_array_free(p->firsts, TRUE);
    g_free(p->action);
    *p = (struct key_latency){0};
}

/* Returns whether the diagram has arrived completely, even if counts are still pending. */
static bool key_latency_is_whole(const struct view *view)
{
    return !view->server_link.more &&
           !request_slot_is_running(&view->server_link, &view->diagram_view.placing) &&
           !request_slot_is_running(&view->server_link, &view->overview.counting) &&
           !request_slot_is_running(&view->server_link, &view->event_step.asked);
}

/* Returns whether an event other than before the key press is selected and visible; parts of the
 * diagram may still be missing. */
static bool key_latency_shows_event(const struct key_latency *p)
{
    const struct view *view = p->view;
    struct event_id at = view->viewport.place.selected;
    const struct scene_mark *m = event_id_equal(at, p->from) || view->viewport.place.overview
                                     ? NULL
                                     : scene_cache_find_mark(&view->scene_cache, at);
    return m && viewport_sees(&view->viewport, m);
}

/* Draws. Returns the time since the key press in ms. */
static double key_latency_draw_ms(const struct key_latency *p)
{
    script_measure_draw(p->view);
    return (double)(g_get_monotonic_time() - p->begun_us) / 1000;
}

static void key_latency_press_key(struct key_latency *p)
{
    p->seen = false;
    p->from = p->view->viewport.place.selected;
    p->begun_us = g_get_monotonic_time();
    g_action_group_activate_action(G_ACTION_GROUP(p->view->window), p->action, NULL);
}

/* Records the time until the whole diagram was drawn. If a key that selects events selects no
 * further one, ends the measurement. */
static void key_latency_record_time(struct key_latency *p, double ms)
{
    bool another = !event_id_equal(p->view->viewport.place.selected, p->from);
    if (another || !p->selects)
        g_array_append_val(p->times, ms);
    else
        p->left = 0;
    p->selects |= another;
    p->begun_us = 0;
    p->resting = true;
    gtk_widget_queue_draw(p->view->canvas);
}

void key_latency_step(struct key_latency *p)
{
    bool whole = key_latency_is_whole(p->view),
         first = p->begun_us && !p->seen && key_latency_shows_event(p);
    if (p->resting)
        return;
    double ms = first || (whole && p->begun_us) ? key_latency_draw_ms(p) : 0;
    if (first) {
        p->seen = true;
        g_array_append_val(p->firsts, ms);
    }
    if (!whole)
        return;
    if (p->begun_us)
        key_latency_record_time(p, ms);
    else if (p->left-- > 0)
        key_latency_press_key(p);
    else
        key_latency_finish(p);
}
