#include "clients/viewer/state/scroll_anchor.h"

#include "clients/viewer/state/viewport.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/scene_cache.h"
#include "wire/trace_view.h"

#include <stdlib.h>

void scroll_anchor_leave_follow(struct viewport *camera)
{
    struct view_state *p = &camera->place;
    if (!p->follow)
        return;
    place_leave_end(p);
    notifier_emit(camera->notifier, NOTIFY_ACTIONS);
}

void scroll_anchor_forget_moves(struct view_state *p)
{
    free(p->moves);
    p->moves = NULL;
    p->move_count = 0;
}

void scroll_anchor_at_event(struct viewport *camera, struct event_id at, double x_px)
{
    struct view_state *p = &camera->place;
    double columns = (x_px - viewport_names_px(camera)) / p->zoom / SCENE_COLUMN_PT;
    scroll_anchor_leave_follow(camera);
    scroll_anchor_forget_moves(p);
    p->anchor = ANCHOR_EVENT;
    p->event = at;
    p->from = -(int32_t)CLAMP(columns, 0, 100000);
    p->shift_pt = 0;
    p->overview = false;
}

/* Returns the middle of the columns. */
static double middle_px(const struct viewport *camera)
{
    double names = viewport_names_px(camera);
    return names + (viewport_along_px(camera) - names) / 2;
}

void scroll_anchor_set_event(struct viewport *camera, struct event_id event, uint64_t position)
{
    double x = middle_px(camera);
    camera->anchor = (struct scroll_anchor){true, event, position, x, 0};
    scroll_anchor_at_event(camera, event, x);
}

void scroll_anchor_set_position(struct viewport *camera, uint64_t position)
{
    double x = middle_px(camera);
    scroll_anchor_at_event(camera, (struct event_id){0, 0}, x);
    camera->place.anchor = ANCHOR_POSITION;
    camera->place.position = position;
    camera->anchor = (struct scroll_anchor){true, {0, 0}, position, x, -1};
}

void scroll_anchor_set_time(struct viewport *camera, int64_t ns)
{
    scroll_anchor_at_event(camera, (struct event_id){0, 0}, middle_px(camera));
    camera->place.anchor = ANCHOR_TIME;
    camera->place.time_ns = ns;
}

void scroll_anchor_keep_selected(struct viewport *camera)
{
    const struct scene_mark *m = scene_cache_find_mark(camera->scene_cache, camera->place.selected);
    if (!m || !viewport_sees(camera, m))
        m = viewport_middle(camera);
    if (!m || camera->place.follow)
        return;
    double x = viewport_x_px(camera, m);
    camera->anchor = (struct scroll_anchor){true, m->event->at, m->event->position, x, -1};
    scroll_anchor_at_event(camera, m->event->at, x);
}

/* ---- arrival of a window ---- */

static void scroll_anchor_apply(struct viewport *camera)
{
    const struct scroll_anchor *h = &camera->anchor;
    const struct scene *s = camera->scene_cache->scene;
    const struct scene_mark *m = scene_cache_find_mark(camera->scene_cache, h->event);
    for (uint32_t i = 0; !m && !h->event.line && i < s->mark_count; i++) {
        uint64_t at = s->marks[i].event->position;
        if (at >= h->position && at != NO_POSITION)
            m = &s->marks[i];
    }
    for (uint32_t i = 0; m && !h->event.line && i < s->mark_count; i++)
        if (s->marks[i].event->position >= h->position &&
            s->marks[i].event->position < m->event->position)
            m = &s->marks[i];
    camera->anchor.active = false;
    if (!m)
        return;
    viewport_set_left_pt(camera,
                         m->x_pt - (h->x_px - viewport_names_px(camera)) / camera->place.zoom);
    if (h->y_px < 0)
        return;
    double y = viewport_y_px(camera, m->row), height = viewport_across_px(camera);
    double least = viewport_band_px(camera);
    if (m->row >= camera->scene_cache->pinned && (y < least + 20 || y > height - 20))
        camera->place.rise_pt =
            MAX(0, camera->place.rise_pt + (y - (least + height) / 2) / camera->place.zoom);
}

void scroll_anchor_settle(struct viewport *camera)
{
    const struct scene *s = camera->scene_cache->scene;
    struct view_state *p = &camera->place;
    if (camera->anchor.active)
        scroll_anchor_apply(camera);
    if (p->follow) {
        viewport_set_left_pt(camera, viewport_end_pt(camera));
    } else if (s->column_count) {
        double left = viewport_left_pt(camera), good = viewport_clamped_pt(camera, left);
        if (good != left)
            viewport_set_left_pt(camera, good);
    }
}
