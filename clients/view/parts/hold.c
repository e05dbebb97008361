#include "clients/view/parts/hold.h"

#include "clients/view/parts/camera.h"
#include "clients/view/parts/news.h"
#include "clients/view/parts/stage.h"
#include "wire/shown.h"

#include <stdlib.h>

void hold_leave_follow(struct camera *camera)
{
    struct place *p = &camera->place;
    if (!p->follow)
        return;
    place_leave_end(p);
    news_tell(camera->news, NEWS_SWITCHES);
}

void hold_forget_moves(struct place *p)
{
    free(p->moves);
    p->moves = NULL;
    p->move_count = 0;
}

void hold_anchor(struct camera *camera, struct ref at, double x_px)
{
    struct place *p = &camera->place;
    double columns = (x_px - camera_names_px(camera)) / p->zoom / SCENE_COLUMN_PT;
    hold_leave_follow(camera);
    hold_forget_moves(p);
    p->anchor = ANCHOR_EVENT;
    p->event = at;
    p->from = -(int32_t)CLAMP(columns, 0, 100000);
    p->shift_pt = 0;
    p->far = false;
}

/* In the middle of the columns. */
static double middle_px(const struct camera *camera)
{
    double names = camera_names_px(camera);
    return names + (camera_along_px(camera) - names) / 2;
}

void hold_event(struct camera *camera, struct ref event, uint64_t position)
{
    double x = middle_px(camera);
    camera->hold = (struct hold){true, event, position, x, 0};
    hold_anchor(camera, event, x);
}

void hold_position(struct camera *camera, uint64_t position)
{
    double x = middle_px(camera);
    hold_anchor(camera, (struct ref){0, 0}, x);
    camera->place.anchor = ANCHOR_POSITION;
    camera->place.position = position;
    camera->hold = (struct hold){true, {0, 0}, position, x, -1};
}

void hold_time(struct camera *camera, int64_t ns)
{
    hold_anchor(camera, (struct ref){0, 0}, middle_px(camera));
    camera->place.anchor = ANCHOR_TIME;
    camera->place.time_ns = ns;
}

void hold_keep_selected(struct camera *camera)
{
    const struct scene_mark *m = stage_mark(camera->stage, camera->place.selected);
    if (!m || !camera_sees(camera, m))
        m = camera_middle(camera);
    if (!m || camera->place.follow)
        return;
    double x = camera_x_px(camera, m);
    camera->hold = (struct hold){true, m->event->at, m->event->position, x, -1};
    hold_anchor(camera, m->event->at, x);
}

/* ---- a window came ---- */

static void apply_hold(struct camera *camera)
{
    const struct hold *h = &camera->hold;
    const struct scene *s = camera->stage->scene;
    const struct scene_mark *m = stage_mark(camera->stage, h->event);
    for (uint32_t i = 0; !m && !h->event.line && i < s->mark_count; i++) {
        uint64_t at = s->marks[i].event->position;
        if (at >= h->position && at != NO_POSITION)
            m = &s->marks[i];
    }
    for (uint32_t i = 0; m && !h->event.line && i < s->mark_count; i++)
        if (s->marks[i].event->position >= h->position &&
            s->marks[i].event->position < m->event->position)
            m = &s->marks[i];
    camera->hold.active = false;
    if (!m)
        return;
    camera_set_left_pt(camera, m->x_pt - (h->x_px - camera_names_px(camera)) / camera->place.zoom);
    if (h->y_px < 0)
        return;
    double y = camera_y_px(camera, m->row), height = camera_across_px(camera);
    double least = camera_band_px(camera);
    if (m->row >= camera->stage->pinned && (y < least + 20 || y > height - 20))
        camera->place.rise_pt =
            MAX(0, camera->place.rise_pt + (y - (least + height) / 2) / camera->place.zoom);
}

void hold_settle(struct camera *camera)
{
    const struct scene *s = camera->stage->scene;
    struct place *p = &camera->place;
    if (camera->hold.active)
        apply_hold(camera);
    if (p->follow) {
        camera_set_left_pt(camera, camera_end_pt(camera));
    } else if (s->column_count) {
        double left = camera_left_pt(camera), good = camera_clamped_pt(camera, left);
        if (good != left)
            camera_set_left_pt(camera, good);
    }
}
