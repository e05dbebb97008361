#include "clients/viewer/diagram/zooming.h"

#include "clients/connection/view_state.h"
#include "clients/viewer/diagram/go_to.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/history.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/state/viewport.h"
#include "render/scene.h"

/* Returns the zoom at which the whole run fits the canvas; 0: the window does not contain it. */
static double zoom_of_all(const struct view *view)
{
    const struct scene *s = view->scene_cache.scene;
    const struct window_info *w = &view->scene_cache.window;
    if (!s || !s->column_count || w->more_left || w->more_right)
        return 0;
    double across = viewport_across_px(&view->viewport), high = viewport_height_pt(&view->viewport),
           along = viewport_along_px(&view->viewport) - viewport_names_px(&view->viewport);
    return MIN(across / MAX(high, 1), along / MAX(viewport_run_pt(&view->viewport), 1));
}

/* Limits zooming out to the whole run. Returns 1 if it is visible already. */
static double zoom_clamp_factor(const struct view *view, double factor)
{
    double all = zoom_of_all(view), zoom = view->viewport.place.zoom;
    return factor < 1 && all > zoom * factor ? MIN(all / zoom, 1) : factor;
}

void zoom_by(struct view *view, double factor, double x_px, double y_px)
{
    struct view_state *p = &view->viewport.place;
    double names = viewport_names_px(&view->viewport),
           width = viewport_along_px(&view->viewport) - names;
    if (x_px < names) {
        const struct scene_mark *m = scene_cache_find_mark(&view->scene_cache, p->selected);
        x_px = m && viewport_sees(&view->viewport, m) ? viewport_x_px(&view->viewport, m)
                                                      : names + width / 2;
        y_px = viewport_across_px(&view->viewport) / 2.0;
    }
    if (p->overview) {
        history_mark(&view->history, "zoom");
        overview_zoom(view, factor, x_px);
        return;
    }
    factor = zoom_clamp_factor(view, factor);
    if (factor == 1)
        return;
    history_mark(&view->history, "zoom");
    double at = viewport_left_pt(&view->viewport) + (x_px - names) / p->zoom,
           y = p->rise_pt + y_px / p->zoom;
    if (p->zoom * factor < VIEWPORT_MIN_ZOOM) {
        overview_enter(view);
        return;
    }
    p->zoom = CLAMP(p->zoom * factor, VIEWPORT_MIN_ZOOM, VIEWPORT_MAX_ZOOM);
    if (view->scene_cache.scene && !p->follow)
        viewport_set_left_pt(
            &view->viewport,
            viewport_clamped_pt(&view->viewport,
                                at - (x_px - viewport_names_px(&view->viewport)) / p->zoom));
    p->rise_pt = MAX(0, y - y_px / p->zoom);
    row_scrollbar_update(view);
    notifier_emit(&view->notifier, NOTIFY_LOOK);
    notifier_emit(&view->notifier, NOTIFY_PLACE);
}

static void zoom_to_bands(struct view *view)
{
    struct view_state *p = &view->viewport.place;
    scroll_anchor_leave_follow(&view->viewport);
    p->overview = true;
    p->overview_from = p->overview_to = 0; /* the whole run */
    overview_request(view);
    notifier_emit(&view->notifier, NOTIFY_ACTIONS);
}

void zoom_fit(struct view *view)
{
    history_mark(&view->history, "fit");
    idle_end_stop(view);
    zoom_to_bands(view);
}

#define LEGIBLE_ZOOM 0.6 /* least zoom of marks in a first view */
#define FIRST_COLUMN_NS 10000u /* time per column where the first view is zoomed into */

/* Returns whether events of the visible window have different times: imported logs may have
 * none. */
static bool zoom_has_times(const struct view *view)
{
    const struct window_info *w = &view->scene_cache.window;
    uint32_t i = 1;
    while (i < w->event_count && w->events[i].time_ns == w->events[0].time_ns)
        i++;
    return i < w->event_count;
}

void zoom_show_whole(struct view *view)
{
    struct view_state *p = &view->viewport.place;
    double all = zoom_of_all(view);
    if (all >= LEGIBLE_ZOOM) {
        p->zoom = MIN(all, VIEWPORT_INITIAL_ZOOM);
        row_scrollbar_update(view);
        notifier_emit(&view->notifier, NOTIFY_LOOK);
        notifier_emit(&view->notifier, NOTIFY_PLACE);
        return;
    }
    p->column_ns = zoom_has_times(view) ? FIRST_COLUMN_NS : 0;
    idle_end_begin(view);
    zoom_to_bands(view);
}

void zoom_reset(struct view *view)
{
    if (view->viewport.place.overview) {
        view->viewport.place.zoom = VIEWPORT_INITIAL_ZOOM;
        go_to_position(view, overview_position(view, viewport_along_px(&view->viewport) / 2.0));
    } else {
        zoom_by(view, VIEWPORT_INITIAL_ZOOM / view->viewport.place.zoom, -1, -1);
    }
}
