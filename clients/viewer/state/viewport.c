#include "clients/viewer/state/viewport.h"

#include "base/lower_bound.h"
#include "wire/layout_results.h"
#include "wire/trace_view.h"

#include <math.h>
#include <stdlib.h>

#define FAR_ROOM_PX 58.0 /* of the overview, for ruler and key */
#define FAR_ROW_LEAST_PX 4.0

/* ---- the screen ---- */

bool viewport_vertical(const struct viewport *camera)
{
    return camera->settings->look.vertical && !camera->place.overview;
}

double viewport_along_px(const struct viewport *camera)
{
    return viewport_vertical(camera) ? camera->height_px : camera->width_px;
}

double viewport_across_px(const struct viewport *camera)
{
    return viewport_vertical(camera) ? camera->width_px : camera->height_px;
}

double viewport_row_pt(const struct viewport *camera)
{
    const struct scene *s = camera->scene_cache->scene;
    bool vertical = viewport_vertical(camera);
    if (camera->place.overview)
        return CLAMP((viewport_across_px(camera) - FAR_ROOM_PX) /
                         MAX(camera->scene_cache->row_total, 1),
                     FAR_ROW_LEAST_PX, 2 * SCENE_ROW_PT);
    if (s && s->vertical == vertical)
        return s->row_pt;
    return vertical ? SCENE_LANE_PT : SCENE_ROW_PT;
}

double viewport_max_row_pt(const struct viewport *camera, uint32_t rows)
{
    double least = viewport_vertical(camera) ? SCENE_LANE_PT : SCENE_ROW_PT;
    double above = camera->scene_cache->scene ? camera->scene_cache->scene->top_pt : 0;
    double good = (viewport_across_px(camera) / camera->place.zoom - above - 4) / MAX(rows, 1);
    return CLAMP(good, least, 2 * least);
}

double viewport_line_pt(const struct viewport *camera)
{
    return viewport_vertical(camera) && camera->scene_cache->scene
               ? camera->scene_cache->scene->line_pt
               : viewport_row_pt(camera) / 2;
}

double viewport_names_px(const struct viewport *camera)
{
    double width = viewport_along_px(camera);
    if (viewport_vertical(camera))
        return SCENE_NAME_PT * 2.6 * MIN(camera->place.zoom, 1.6) + VIEWPORT_GAP_PX;
    double zoom = camera->place.overview ? 1 : MIN(camera->place.zoom, 1.6); /* of the text */
    double own = camera->scene_cache->scene ? camera->scene_cache->scene->names_pt * zoom : 140;
    double names = camera->settings->names_px ? camera->settings->names_px : MIN(own, width * 0.3);
    return MIN(names, width * 0.6) + VIEWPORT_GAP_PX;
}

double viewport_width_pt(const struct viewport *camera)
{
    double px = viewport_along_px(camera) - viewport_names_px(camera);
    return MAX(px, 40) / camera->place.zoom;
}

uint32_t viewport_columns(const struct viewport *camera)
{
    double columns = viewport_width_pt(camera) / SCENE_COLUMN_PT + 1;
    return (uint32_t)CLAMP(columns, 4, 4000);
}

double viewport_height_pt(const struct viewport *camera)
{
    const struct scene *s = camera->scene_cache->scene;
    if (camera->place.overview)
        return FAR_ROOM_PX + camera->scene_cache->row_total * viewport_row_pt(camera);
    return s ? s->top_pt + camera->scene_cache->row_total * viewport_row_pt(camera) + 4 : 0;
}

double viewport_page_pt(const struct viewport *camera)
{
    return viewport_across_px(camera) / (camera->place.overview ? 1 : camera->place.zoom);
}

double viewport_band_px(const struct viewport *camera)
{
    const struct scene_cache *stage = camera->scene_cache;
    if (!stage->pinned || !stage->scene)
        return 0;
    return (stage->scene->top_pt + stage->pinned * viewport_row_pt(camera)) * camera->place.zoom;
}

/* Converts a position across the lines from the canvas to the scene. */
static double scene_y_pt(const struct viewport *camera, double y_px)
{
    double y = y_px / camera->place.zoom;
    if (y_px < viewport_band_px(camera))
        return y;
    return y + camera->place.rise_pt - camera->scene_cache->row_base * viewport_row_pt(camera);
}

/* ---- along the lines ---- */

static double column_left(const struct scene_column *c) { return c->x_pt - c->left_pt; }

/* Returns the index of the first column of the scene with this number, or a greater one;
 * column_count: none. By time, several columns may have one number, and a long empty stretch has
 * only that of its first column. */
static uint32_t column_at(const struct scene *s, int64_t number)
{
    uint32_t low = LOWER_BOUND(i, 0, s->column_count, s->columns[i].column < number);
    if (low && low < s->column_count && s->columns[low].column > number)
        low = column_at(s, s->columns[low - 1].column); /* in an empty stretch */
    return low;
}

double viewport_left_pt(const struct viewport *camera)
{
    const struct scene *s = camera->scene_cache->scene;
    if (!s || !s->column_count)
        return s ? s->names_pt : 0;
    const struct scene_column *first = &s->columns[0], *last = &s->columns[s->column_count - 1];
    int64_t from = camera->place.from;
    if (from < first->column)
        return column_left(first) + (double)(from - first->column) * SCENE_COLUMN_PT +
               camera->place.shift_pt;
    if (from > last->column)
        return last->x_pt + last->right_pt + (double)(from - last->column - 1) * SCENE_COLUMN_PT +
               camera->place.shift_pt;
    return column_left(&s->columns[column_at(s, from)]) + camera->place.shift_pt;
}

void viewport_set_left_pt(struct viewport *camera, double x)
{
    const struct scene *s = camera->scene_cache->scene;
    struct view_state *p = &camera->place;
    if (!s || !s->column_count)
        return;
    double begin = column_left(&s->columns[0]);
    const struct scene_column *last = &s->columns[s->column_count - 1];
    double end = last->x_pt + last->right_pt;
    if (x < begin || x >= end) {
        double over = x < begin ? x - begin : x - end;
        double columns = floor(over / SCENE_COLUMN_PT);
        p->from = (x < begin ? s->columns[0].column : last->column + 1) + (int32_t)columns;
        p->shift_pt = over - columns * SCENE_COLUMN_PT;
        return;
    }
    uint32_t low = LOWER_BOUND(i, 1, s->column_count, column_left(&s->columns[i]) <= x) - 1;
    p->from = s->columns[low].column;
    p->shift_pt = x - column_left(&s->columns[column_at(s, p->from)]);
}

static double scene_begin(const struct scene *s) { return s->names_pt; }

static double scene_end(const struct scene *s)
{
    if (!s->column_count)
        return s->names_pt;
    const struct scene_column *last = &s->columns[s->column_count - 1];
    return last->x_pt + last->right_pt + 10;
}

double viewport_run_pt(const struct viewport *camera)
{
    const struct scene *s = camera->scene_cache->scene;
    return s ? scene_end(s) - scene_begin(s) : 0;
}

double viewport_clamped_pt(const struct viewport *camera, double left)
{
    const struct scene *s = camera->scene_cache->scene;
    const struct window_info *w = &camera->scene_cache->window;
    double width = viewport_width_pt(camera), begin = scene_begin(s), end = scene_end(s);
    double least = w->more_left ? begin - width : begin;
    double most = w->more_right ? end : end - width;
    return CLAMP(left, least, MAX(least, most));
}

bool viewport_needs_more(const struct viewport *camera)
{
    const struct scene *s = camera->scene_cache->scene;
    const struct window_info *w = &camera->scene_cache->window;
    double left = viewport_left_pt(camera), width = viewport_width_pt(camera), room = width / 2;
    return (w->more_left && left < scene_begin(s) + room) ||
           (w->more_right && left + width > scene_end(s) - room);
}

double viewport_end_pt(const struct viewport *camera)
{
    return MAX(scene_end(camera->scene_cache->scene) - viewport_width_pt(camera),
               scene_begin(camera->scene_cache->scene));
}

/* ---- positions and hits ---- */

double viewport_x_px(const struct viewport *camera, const struct scene_mark *mark)
{
    return viewport_names_px(camera) + (mark->x_pt - viewport_left_pt(camera)) * camera->place.zoom;
}

double viewport_y_px(const struct viewport *camera, uint32_t row)
{
    const struct scene *s = camera->scene_cache->scene;
    double scrolled =
        camera->scene_cache->row_base * viewport_row_pt(camera) - camera->place.rise_pt;
    return (s->rows[row].y_pt + (row < camera->scene_cache->pinned ? 0 : scrolled)) *
           camera->place.zoom;
}

int viewport_row_at(const struct viewport *camera, double y_px)
{
    const struct scene *s = camera->scene_cache->scene;
    if (!s)
        return -1;
    double row = floor((scene_y_pt(camera, y_px) - s->top_pt) / viewport_row_pt(camera));
    return row < 0 || row >= s->row_count ? -1 : (int)row;
}

const struct scene_mark *viewport_hit(const struct viewport *camera, double x_px, double y_px)
{
    const struct scene_cache *stage = camera->scene_cache;
    double names = viewport_names_px(camera), zoom = camera->place.zoom;
    if (!stage->scene || x_px < names)
        return NULL;
    return scene_hit(stage->scene, (x_px - names) / zoom + viewport_left_pt(camera),
                     scene_y_pt(camera, y_px), 9);
}

const struct scene_link *viewport_hit_link(const struct viewport *camera, double x_px, double y_px)
{
    const struct scene_cache *stage = camera->scene_cache;
    double names = viewport_names_px(camera), zoom = camera->place.zoom;
    if (!stage->scene || x_px < names)
        return NULL;
    return scene_hit_link(stage->scene, (x_px - names) / zoom + viewport_left_pt(camera),
                          scene_y_pt(camera, y_px), 4);
}

bool viewport_sees(const struct viewport *camera, const struct scene_mark *m)
{
    double x = viewport_x_px(camera, m), y = viewport_y_px(camera, m->row);
    double least = m->row < camera->scene_cache->pinned ? 0 : viewport_band_px(camera);
    return x >= viewport_names_px(camera) && x <= viewport_along_px(camera) && y >= least &&
           y <= viewport_across_px(camera);
}

void viewport_positions(const struct viewport *camera, uint64_t *first, uint64_t *last)
{
    const struct scene *s = camera->scene_cache->scene;
    double left = viewport_left_pt(camera), right = left + viewport_width_pt(camera);
    *first = UINT64_MAX;
    *last = 0;
    for (uint32_t i = 0; s && i < s->mark_count; i++) {
        const struct scene_mark *m = &s->marks[i];
        uint64_t at = m->event->position;
        if (m->x_pt < left || m->x_pt > right || at == NO_POSITION)
            continue;
        *first = at < *first ? at : *first;
        *last = at > *last ? at : *last;
    }
    if (*first > *last)
        *first = *last = camera->place.position;
}

const struct scene_mark *viewport_middle(const struct viewport *camera)
{
    const struct scene *s = camera->scene_cache->scene;
    if (!s)
        return NULL;
    double y = scene_y_pt(camera, viewport_across_px(camera) / 2.0);
    return scene_hit(s, viewport_left_pt(camera) + viewport_width_pt(camera) / 2,
                     MIN(y, s->bottom_pt), 1e6);
}

/* Returns the time at a position of the scene. */
static int64_t time_at(const struct viewport *camera, double x_pt)
{
    const struct scene *s = camera->scene_cache->scene;
    const struct window_info *w = &camera->scene_cache->window;
    int64_t column = (int64_t)camera->place.column_ns;
    uint32_t low = LOWER_BOUND(i, 0, s->column_count, column_left(&s->columns[i]) <= x_pt);
    bool behind = low == s->column_count && x_pt > s->columns[low - 1].x_pt;
    return w->time_ns + (s->columns[low ? low - 1 : 0].column + (int64_t)behind) * column;
}

void viewport_times(const struct viewport *camera, int64_t *from_ns, int64_t *to_ns)
{
    const struct scene *s = camera->scene_cache->scene;
    double left = viewport_left_pt(camera);
    *from_ns = *to_ns = 0;
    if (!s || !s->column_count)
        return;
    *from_ns = time_at(camera, left);
    *to_ns = time_at(camera, left + viewport_width_pt(camera));
    *to_ns = MAX(*to_ns, *from_ns + (int64_t)camera->place.column_ns);
}

/* ---- scroll anchoring ---- */

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

/* Makes the event the anchor, near x_px. */
static void scroll_anchor_at_event(struct viewport *camera, struct event_id at, double x_px)
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
static double viewport_middle_px(const struct viewport *camera)
{
    double names = viewport_names_px(camera);
    return names + (viewport_along_px(camera) - names) / 2;
}

void scroll_anchor_set_event(struct viewport *camera, struct event_id event, uint64_t position)
{
    double x = viewport_middle_px(camera);
    camera->anchor = (struct scroll_anchor){true, event, position, x, 0};
    scroll_anchor_at_event(camera, event, x);
}

void scroll_anchor_set_position(struct viewport *camera, uint64_t position)
{
    double x = viewport_middle_px(camera);
    scroll_anchor_at_event(camera, (struct event_id){0, 0}, x);
    camera->place.anchor = ANCHOR_POSITION;
    camera->place.position = position;
    camera->anchor = (struct scroll_anchor){true, {0, 0}, position, x, -1};
}

void scroll_anchor_set_time(struct viewport *camera, int64_t ns)
{
    scroll_anchor_at_event(camera, (struct event_id){0, 0}, viewport_middle_px(camera));
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
