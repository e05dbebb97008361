#include "clients/view/measure.h"

#include "clients/view/drawer/bands.h"
#include "clients/view/drawer/drawer.h"
#include "clients/view/drawer/pages.h"
#include "clients/view/picture/canvas.h"
#include "clients/view/picture/scroll.h"
#include "clients/view/picture/view.h"
#include "render/scene.h"

#include <stdio.h>
#include <sys/resource.h>

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

void measure_tell(const char *what, GArray *times)
{
    if (!times->len)
        return;
    g_array_sort(times, by_value);
    const double *t = (const double *)(gpointer)times->data;
    printf("%s: median %.2f ms, p99 %.2f ms, most %.2f ms (%u)\n", what, t[times->len / 2],
           t[times->len - 1 - times->len / 100], t[times->len - 1], times->len);
    fflush(stdout);
}

void measure_draw(struct view *view)
{
    int width = gtk_widget_get_width(view->canvas), height = gtk_widget_get_height(view->canvas);
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
    cairo_t *cr = cairo_create(surface);
    canvas_draw(view, cr, width, height);
    if (view->settings.drawer && page_of(drawer_page(view)) == &page_states && bands_wanted(view))
        bands_draw(view, cr, width);
    cairo_destroy(cr);
    cairo_surface_destroy(surface);
}

void measure_frames(struct view *view, const char *how, int count)
{
    GArray *times = g_array_new(FALSE, FALSE, sizeof(double));
    bool full = g_ascii_strcasecmp(how, "full") == 0;
    double step = SCENE_COLUMN_PT * view->camera.place.zoom;
    for (int i = 0; i < count; i++) {
        gint64 begin = g_get_monotonic_time();
        if (full)
            view->stage.serial++;
        else
            scroll_pan(view, i / 8 % 2 ? -step : step, 0);
        measure_draw(view);
        double ms = (double)(g_get_monotonic_time() - begin) / 1000;
        g_array_append_val(times, ms);
    }
    char *what = g_strdup_printf("frame, %s, %u marks", how,
                                 view->stage.scene ? view->stage.scene->mark_count : 0);
    measure_tell(what, times);
    g_free(what);
    g_array_free(times, TRUE);
}

void measure_memory(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("memory: %ld MB\n", usage.ru_maxrss / 1000);
    fflush(stdout);
}

/* Beats every 5 ms: what comes late was held up. */
struct watch {
    bool *watching;
    gint64 until, last;
    GArray *times;
};

static gboolean on_beat(gpointer data)
{
    struct watch *w = data;
    gint64 now = g_get_monotonic_time();
    double ms = (double)(now - w->last) / 1000;
    w->last = now;
    g_array_append_val(w->times, ms);
    if (now < w->until)
        return G_SOURCE_CONTINUE;
    measure_tell("between two beats of 5 ms", w->times);
    *w->watching = false;
    g_array_free(w->times, TRUE);
    g_free(w);
    return G_SOURCE_REMOVE;
}

void measure_watch(double seconds, bool *watching)
{
    struct watch *w = g_new0(struct watch, 1);
    w->watching = watching;
    w->last = g_get_monotonic_time();
    w->until = w->last + (gint64)(seconds * 1e6);
    w->times = g_array_new(FALSE, FALSE, sizeof(double));
    *watching = true;
    g_timeout_add_full(G_PRIORITY_HIGH, 5, on_beat, w, NULL);
}
