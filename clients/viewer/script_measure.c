#include "clients/viewer/script_measure.h"

#include "clients/viewer/analysis/band_rows.h"
#include "clients/viewer/analysis/analysis_pane.h"
#include "clients/viewer/analysis/tab_list.h"
#include "clients/viewer/diagram/canvas.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/viewer.h"
#include "render/scene.h"

#include <stdio.h>
#include <sys/resource.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

void script_measure_report(const char *what, GArray *times)
{
    if (!times->len)
        return;
    g_array_sort(times, by_value);
    const double *t = (const double *)(gpointer)times->data;
    printf("%s: median %.2f ms, p99 %.2f ms, most %.2f ms (%u)\n", what, t[times->len / 2],
           t[times->len - 1 - times->len / 100], t[times->len - 1], times->len);
    fflush(stdout);
}

void script_measure_draw(struct view *view)
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

/* A timer of 5 ms, whose delays show how long the main loop was blocked. */
struct loop_watch {
    bool *watching;
    gint64 until, last;
    GArray *times;
};

static gboolean on_beat(gpointer data)
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
    g_timeout_add_full(G_PRIORITY_HIGH, 5, on_beat, w, NULL);
}

/* The latency of events with a text "at NS" until the frame that first shows them. */
struct latency_watch {
    struct view *view;
    GdkFrameClock *clock;
    gulong handler;
    bool *watching;
    gint64 until, last; /* us; ns of the newest event that was in a frame */
    GArray *times;
};

static void script_measure_record_latency(struct latency_watch *late, const struct event_info *e,
                                          gint64 now_us, gint64 *newest)
{
    gint64 at = 0;
    for (size_t i = 0; i < e->text_count; i++)
        if (g_str_has_prefix(e->texts[i], "at "))
            at = g_ascii_strtoll(e->texts[i] + 3, NULL, 10);
    if (at <= late->last)
        return;
    double ms = (double)now_us / 1000 - (double)at / 1e6;
    if (late->last) /* the first frame has older events, which are not late */
        g_array_append_val(late->times, ms);
    *newest = MAX(*newest, at);
}

static void on_frame(GdkFrameClock *clock, gpointer data)
{
    struct latency_watch *late = data;
    const struct scene *scene = late->view->scene_cache.scene;
    gint64 now = g_get_monotonic_time(), newest = late->last;
    for (uint32_t i = 0; scene && i < scene->mark_count; i++)
        script_measure_record_latency(late, scene->marks[i].event, now, &newest);
    late->last = newest;
}

static gboolean script_measure_on_latency_done(gpointer data)
{
    struct latency_watch *late = data;
    g_signal_handler_disconnect(late->clock, late->handler);
    script_measure_report("an event until its frame", late->times);
    *late->watching = false;
    g_array_free(late->times, TRUE);
    g_free(late);
    return G_SOURCE_REMOVE;
}

void script_measure_event_latency(struct view *view, double seconds, bool *watching)
{
    struct latency_watch *late = g_new0(struct latency_watch, 1);
    late->view = view;
    late->watching = watching;
    late->times = g_array_new(FALSE, FALSE, sizeof(double));
    late->clock = gtk_widget_get_frame_clock(view->canvas);
    late->handler = g_signal_connect(late->clock, "after-paint", G_CALLBACK(on_frame), late);
    *watching = true;
    g_timeout_add((guint)(seconds * 1000), script_measure_on_latency_done, late);
}
