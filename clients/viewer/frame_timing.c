#include "clients/viewer/frame_timing.h"

#include "clients/viewer/script_measure.h"
#include "clients/viewer/diagram/viewer.h"

#include <time.h>

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

static gint64 cpu_us(void)
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

static void on_before(GdkFrameClock *clock, gpointer data)
{
    struct frame_timing *f = data;
    (void)clock;
    f->begin_us = g_get_monotonic_time();
    f->cpu_us = cpu_us();
    f->begun = false;
}

static gboolean on_tick(GtkWidget *widget, GdkFrameClock *clock, gpointer data)
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

static void on_after(GdkFrameClock *clock, gpointer data)
{
    struct frame_timing *f = data;
    gint64 now = g_get_monotonic_time();
    (void)clock;
    if (!f->begun)
        return;
    frame_timing_add_time(f->times, now - f->begin_us);
    frame_timing_add_time(f->cpu, cpu_us() - f->cpu_us);
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
    f->before = g_signal_connect(clock, "before-paint", G_CALLBACK(on_before), f);
    f->after = g_signal_connect(clock, "after-paint", G_CALLBACK(on_after), f);
    f->tick = gtk_widget_add_tick_callback(view->canvas, on_tick, f, NULL);
    *running = true;
}
