#include "clients/viewer/diagram/scrolling.h"

#include "clients/connection/view_state.h"
#include "clients/viewer/state/viewport.h"
#include "clients/viewer/state/history.h"
#include "clients/viewer/state/scroll_anchor.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/diagram/row_scrollbar.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/selection.h"
#include "clients/viewer/diagram/viewer.h"
#include "render/scene.h"
#include "wire/request_body.h"

#include <math.h>

/* As in OLT: if the selected event is not visible, selects the nearest one of its row that is. Not
 * while another place is being gone to: an event that was selected since is not visible yet. */
static gboolean on_reselect(gpointer data)
{
    struct view *view = data;
    view->scroll.reselect = 0;
    if (view->viewport.place.overview || view->viewport.anchor.active)
        return G_SOURCE_REMOVE;
    const struct scene *s = view->scene_cache.scene;
    const struct scene_mark *m = scene_cache_find_mark(&view->scene_cache,
                                                       view->viewport.place.selected),
                            *best = NULL;
    if (!m || viewport_sees(&view->viewport, m) || view->viewport.place.second.line)
        return G_SOURCE_REMOVE;
    for (uint32_t i = 0; i < s->mark_count; i++) {
        const struct scene_mark *o = &s->marks[i];
        if (o->row == m->row && viewport_sees(&view->viewport, o) &&
            (!best || fabs(o->x_pt - m->x_pt) < fabs(best->x_pt - m->x_pt)))
            best = o;
    }
    if (best)
        selection_set_silently(view, best->event->at, false); /* no user action, nothing to undo */
    return G_SOURCE_REMOVE;
}

static void scroll_on_moved(struct view *view)
{
    if (view->viewer_settings.reselect && view->viewport.place.selected.line &&
        !view->scroll.reselect)
        view->scroll.reselect = g_timeout_add(300, on_reselect, view);
    notifier_emit(&view->notifier, NOTIFY_VISIBLE_PART);
    if (viewport_needs_more(&view->viewport))
        notifier_emit(&view->notifier, NOTIFY_PLACE);
}

void scroll_to(struct view *view, double left_pt)
{
    scroll_anchor_leave_follow(&view->viewport);
    viewport_set_left_pt(&view->viewport, viewport_clamped_pt(&view->viewport, left_pt));
    scroll_on_moved(view);
}

void scroll_pan(struct view *view, double x_px, double y_px)
{
    struct view_state *p = &view->viewport.place;
    if (p->overview) {
        overview_pan(view, x_px);
    } else if (view->scene_cache.scene && x_px) {
        double left = viewport_left_pt(&view->viewport),
               wanted = viewport_clamped_pt(&view->viewport, left + x_px / p->zoom);
        if (wanted != left) {
            history_mark(&view->history, "scroll");
            scroll_to(view, wanted);
        }
    }
    if (y_px)
        row_scrollbar_scroll_to(view, p->rise_pt + y_px / p->zoom);
}

void scroll_page(struct view *view, int pages)
{
    scroll_pan(view,
               pages * 0.75 *
                   (viewport_along_px(&view->viewport) - viewport_names_px(&view->viewport)),
               0);
}

void scroll_start(struct view *view)
{
    struct view_state *p = &view->viewport.place;
    history_mark(&view->history, "start");
    scroll_anchor_leave_follow(&view->viewport);
    scroll_anchor_forget_moves(p);
    p->anchor = ANCHOR_START;
    p->from = 0;
    p->shift_pt = 0;
    p->overview = false;
    notifier_emit(&view->notifier, NOTIFY_PLACE);
}

void scroll_follow(struct view *view, bool follow)
{
    struct view_state *p = &view->viewport.place;
    if (follow == p->follow && !p->overview && view->scene_cache.scene)
        return;
    if (view->scene_cache.scene)
        history_mark(&view->history, "follow");
    if (follow) {
        scroll_anchor_forget_moves(p);
        p->follow = true;
        p->overview = false;
        p->anchor = ANCHOR_END;
        notifier_emit(&view->notifier, NOTIFY_PLACE);
    } else {
        scroll_anchor_leave_follow(&view->viewport);
    }
    notifier_emit(&view->notifier, NOTIFY_ACTIONS);
}

void scroll_stop(struct view *view)
{
    if (view->scroll.reselect)
        g_source_remove(view->scroll.reselect);
    view->scroll.reselect = 0;
}

void scroll_on_restored(struct view *view, enum notification what)
{
    (void)what;
    scroll_stop(view);
}
