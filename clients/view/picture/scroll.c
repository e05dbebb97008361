#include "clients/view/picture/scroll.h"

#include "clients/source/place.h"
#include "clients/view/parts/camera.h"
#include "clients/view/parts/history.h"
#include "clients/view/parts/hold.h"
#include "clients/view/parts/news.h"
#include "clients/view/parts/stage.h"
#include "clients/view/picture/bar.h"
#include "clients/view/picture/far.h"
#include "clients/view/picture/select.h"
#include "clients/view/picture/view.h"
#include "render/scene.h"
#include "wire/asked.h"

#include <math.h>

/* As in OLT: an event that leaves the picture hands over to the next one of its line. */
static gboolean on_reselect(gpointer data)
{
    struct view *view = data;
    view->scroll.reselect = 0;
    if (view->camera.place.far)
        return G_SOURCE_REMOVE;
    const struct scene *s = view->stage.scene;
    const struct scene_mark *m = stage_mark(&view->stage, view->camera.place.selected),
                            *best = NULL;
    if (!m || camera_sees(&view->camera, m) || view->camera.place.second.line)
        return G_SOURCE_REMOVE;
    for (uint32_t i = 0; i < s->mark_count; i++) {
        const struct scene_mark *o = &s->marks[i];
        if (o->row == m->row && camera_sees(&view->camera, o) &&
            (!best || fabs(o->x_pt - m->x_pt) < fabs(best->x_pt - m->x_pt)))
            best = o;
    }
    if (best)
        select_silently(view, best->event->at,
                        false); /* not a change that anyone made: nothing to undo */
    return G_SOURCE_REMOVE;
}

static void moved(struct view *view)
{
    if (view->settings.reselect && view->camera.place.selected.line && !view->scroll.reselect)
        view->scroll.reselect = g_timeout_add(300, on_reselect, view);
    news_tell(&view->news, NEWS_SEEN);
    if (camera_needs_more(&view->camera))
        news_tell(&view->news, NEWS_PLACE);
}

void scroll_to(struct view *view, double left_pt)
{
    hold_leave_follow(&view->camera);
    camera_set_left_pt(&view->camera, camera_clamped_pt(&view->camera, left_pt));
    moved(view);
}

void scroll_pan(struct view *view, double x_px, double y_px)
{
    struct place *p = &view->camera.place;
    if (p->far) {
        far_pan(view, x_px);
    } else if (view->stage.scene && x_px) {
        double left = camera_left_pt(&view->camera),
               wanted = camera_clamped_pt(&view->camera, left + x_px / p->zoom);
        if (wanted != left) {
            history_mark(&view->history, "scroll");
            scroll_to(view, wanted);
        }
    }
    if (y_px)
        bar_to(view, p->rise_pt + y_px / p->zoom);
}

void scroll_page(struct view *view, int pages)
{
    scroll_pan(view,
               pages * 0.75 * (camera_along_px(&view->camera) - camera_names_px(&view->camera)), 0);
}

void scroll_start(struct view *view)
{
    struct place *p = &view->camera.place;
    history_mark(&view->history, "start");
    hold_leave_follow(&view->camera);
    hold_forget_moves(p);
    p->anchor = ANCHOR_START;
    p->from = 0;
    p->shift_pt = 0;
    p->far = false;
    news_tell(&view->news, NEWS_PLACE);
}

void scroll_follow(struct view *view, bool follow)
{
    struct place *p = &view->camera.place;
    if (follow == p->follow && !p->far && view->stage.scene)
        return;
    if (view->stage.scene)
        history_mark(&view->history, "follow");
    if (follow) {
        hold_forget_moves(p);
        p->follow = true;
        p->far = false;
        p->anchor = ANCHOR_END;
        news_tell(&view->news, NEWS_PLACE);
    } else {
        hold_leave_follow(&view->camera);
    }
    news_tell(&view->news, NEWS_SWITCHES);
}

void scroll_stop(struct view *view)
{
    if (view->scroll.reselect)
        g_source_remove(view->scroll.reselect);
    view->scroll.reselect = 0;
}
