#include "clients/viewer/diagram/go_to.h"

#include "clients/viewer/state/viewport.h"
#include "clients/viewer/state/history.h"
#include "clients/viewer/state/scroll_anchor.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/diagram/row_scrollbar.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/selection.h"
#include "clients/viewer/diagram/viewer.h"
#include "render/scene.h"

#define AROUND_PX 60 /* least distance of a selected event from the edges */

static void go_to_scroll_into_view(struct view *view, const struct scene_mark *m)
{
    double names = viewport_names_px(&view->viewport), width = viewport_along_px(&view->viewport),
           height = viewport_across_px(&view->viewport);
    double x = viewport_x_px(&view->viewport, m), y = viewport_y_px(&view->viewport, m->row),
           to = x;
    double room = MIN(AROUND_PX, (width - names) / 4);
    if (x < names + room)
        to = names + room;
    else if (x > width - room)
        to = width - room;
    if (to != x)
        scroll_to(view, viewport_left_pt(&view->viewport) + (x - to) / view->viewport.place.zoom);
    double least = viewport_band_px(&view->viewport);
    if (m->row >= view->scene_cache.pinned && (y < least + 10 || y > height - 10))
        row_scrollbar_scroll_to(view, view->viewport.place.rise_pt +
                                          (y - (least + height) / 2) / view->viewport.place.zoom);
}

static void go_to_select_and_show(struct view *view, struct event_id at, uint64_t position,
                                  bool center)
{
    const struct scene_mark *m =
        view->viewport.place.overview ? NULL : scene_cache_find_mark(&view->scene_cache, at);
    bool stays = m && (!center || viewport_sees(&view->viewport, m));
    view->diagram_view.leaving = !stays;
    selection_set(view, at, false);
    if (stays) {
        go_to_scroll_into_view(view, m);
        return;
    }
    scroll_anchor_set_event(&view->viewport, at, position);
    notifier_emit(&view->notifier, NOTIFY_PLACE);
    notifier_emit(&view->notifier, NOTIFY_ACTIONS);
}

void go_to_event(struct view *view, struct event_id at, uint64_t position)
{
    history_mark(&view->history, "jump");
    go_to_select_and_show(view, at, position, true);
}

void go_to_position(struct view *view, uint64_t position)
{
    history_mark(&view->history, "position");
    scroll_anchor_set_position(&view->viewport, position);
    notifier_emit(&view->notifier, NOTIFY_PLACE);
    notifier_emit(&view->notifier, NOTIFY_ACTIONS);
}

void go_to_time(struct view *view, int64_t ns)
{
    history_mark(&view->history, "time");
    scroll_anchor_set_time(&view->viewport, ns);
    notifier_emit(&view->notifier, NOTIFY_PLACE);
}

void go_to_neighbor(struct view *view, struct event_id at, uint64_t position)
{
    go_to_select_and_show(view, at, position, false);
}
