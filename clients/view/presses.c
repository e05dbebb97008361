#include "clients/view/presses.h"

#include "clients/view/measure.h"
#include "clients/view/parts/camera.h"
#include "clients/view/parts/inquiry.h"
#include "clients/view/parts/stage.h"
#include "clients/view/picture/view.h"

static void on_painted(GdkFrameClock *clock, gpointer data)
{
    struct presses *p = data;
    (void)clock;
    p->resting = false;
}

void presses_begin(struct presses *p, struct view *view, const char *action, int count)
{
    *p = (struct presses){.view = view, .action = g_strdup(action), .left = count};
    p->times = g_array_new(FALSE, FALSE, sizeof(double));
    p->firsts = g_array_new(FALSE, FALSE, sizeof(double));
    p->painted = g_signal_connect(gtk_widget_get_frame_clock(view->canvas), "after-paint",
                                  G_CALLBACK(on_painted), p);
}

static void end(struct presses *p)
{
    char *first = g_strdup_printf("first frame, %s", p->action),
         *whole = g_strdup_printf("key to picture, %s", p->action);
    measure_tell(first, p->firsts);
    measure_tell(whole, p->times);
    g_free(first);
    g_free(whole);
    g_signal_handler_disconnect(gtk_widget_get_frame_clock(p->view->canvas), p->painted);
    g_array_free(p->times, TRUE);
    g_array_free(p->firsts, TRUE);
    g_free(p->action);
    *p = (struct presses){0};
}

/* Is the picture of the place there, whatever else is still being counted? */
static bool is_whole(const struct view *view)
{
    return !view->link.more && !inquiry_runs(&view->link, &view->picture.placing) &&
           !inquiry_runs(&view->link, &view->far.counting) &&
           !inquiry_runs(&view->link, &view->step.asked);
}

/* Is another event selected than before the press, and seen, though more of the picture may come? */
static bool shows_it(const struct presses *p)
{
    const struct view *view = p->view;
    struct ref at = view->camera.place.selected;
    const struct scene_mark *m =
        ref_equal(at, p->from) || view->camera.place.far ? NULL : stage_mark(&view->stage, at);
    return m && camera_sees(&view->camera, m);
}

/* Draws, and says how long after the press that was done. */
static double drawn_ms(const struct presses *p)
{
    measure_draw(p->view);
    return (double)(g_get_monotonic_time() - p->begun_us) / 1000;
}

static void press(struct presses *p)
{
    p->seen = false;
    p->from = p->view->camera.place.selected;
    p->begun_us = g_get_monotonic_time();
    g_action_group_activate_action(G_ACTION_GROUP(p->view->window), p->action, NULL);
}

/* The whole picture is there.  Once there is no other event to go to, the rest is not worth a figure. */
static void note(struct presses *p, double ms)
{
    bool another = !ref_equal(p->view->camera.place.selected, p->from);
    if (another || !p->selects)
        g_array_append_val(p->times, ms);
    else
        p->left = 0;
    p->selects |= another;
    p->begun_us = 0;
    p->resting = true;
    gtk_widget_queue_draw(p->view->canvas);
}

void presses_step(struct presses *p)
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
        note(p, ms);
    else if (p->left-- > 0)
        press(p);
    else
        end(p);
}
