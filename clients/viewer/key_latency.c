#include "clients/viewer/key_latency.h"

#include "clients/viewer/script_measure.h"
#include "clients/viewer/state/viewport.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/diagram/viewer.h"

static void on_painted(GdkFrameClock *clock, gpointer data)
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
                                  G_CALLBACK(on_painted), p);
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
static bool is_whole(const struct view *view)
{
    return !view->server_link.more &&
           !request_slot_is_running(&view->server_link, &view->diagram_view.placing) &&
           !request_slot_is_running(&view->server_link, &view->overview.counting) &&
           !request_slot_is_running(&view->server_link, &view->event_step.asked);
}

/* Returns whether an event other than before the key press is selected and visible; parts of the
 * diagram may still be missing. */
static bool shows_it(const struct key_latency *p)
{
    const struct view *view = p->view;
    struct event_id at = view->viewport.place.selected;
    const struct scene_mark *m = event_id_equal(at, p->from) || view->viewport.place.overview
                                     ? NULL
                                     : scene_cache_find_mark(&view->scene_cache, at);
    return m && viewport_sees(&view->viewport, m);
}

/* Draws. Returns the time since the key press in ms. */
static double drawn_ms(const struct key_latency *p)
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
    bool whole = is_whole(p->view), first = p->begun_us && !p->seen && shows_it(p);
    if (p->resting)
        return;
    double ms = first || (whole && p->begun_us) ? drawn_ms(p) : 0;
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
