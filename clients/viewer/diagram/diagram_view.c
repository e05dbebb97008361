#include "clients/viewer/diagram/diagram_view.h"

#include "clients/connection/view_state.h"
#include "clients/viewer/diagram/line_arrangement.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/overview_map.h"
#include "clients/viewer/diagram/range_view.h"
#include "clients/viewer/diagram/row_requests.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/selection.h"
#include "clients/viewer/diagram/time_range.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/diagram/zooming.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/state/viewport.h"
#include "render/scene.h"
#include "render/text_cache.h"
#include "wire/layout_results.h"
#include "wire/limits.h"

#include <math.h>
#include <stdlib.h>

/* ---- rows without visible events ---- */

static void idle_rows_find_used(const struct scene *s, bool *used)
{
    for (uint32_t i = 0; i < s->mark_count; i++)
        used[s->marks[i].row] = true;
    for (uint32_t i = 0; i < s->segment_count; i++)
        used[s->segments[i].row] |= s->segments[i].style != STYLE_NONE;
    for (uint32_t i = 0; i < s->gap_count; i++)
        used[s->gaps[i].row] = true;
}

/* Drops the other rows, and returns how many are left. */
static uint32_t idle_rows_drop(struct window_info *w, const bool *used)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->row_count; i++) {
        if (used[i]) {
            w->rows[kept++] = w->rows[i];
            continue;
        }
        free(w->rows[i].members);
        free(w->rows[i].lefts);
    }
    return kept;
}

/* Removes rows without anything drawn from the window, if that is enabled, but keeps all of very
 * many rows, since these are requested in parts. Returns whether it removed any. */
static bool idle_rows_remove(struct view *view)
{
    struct scene_cache *stage = &view->scene_cache;
    struct window_info *w = &stage->window;
    const struct scene *s = stage->scene;
    if (!view->viewer_settings.busy_rows || !s || s->row_count != w->row_count || stage->row_base ||
        stage->row_total > w->row_count)
        return false;
    bool *used = g_new0(bool, w->row_count + 1);
    idle_rows_find_used(s, used);
    for (uint32_t i = 0; i < w->row_count; i++)
        used[i] |= row_requests_is_pinned(&view->viewport.place, w->rows[i].line);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < w->row_count; i++)
        kept += used[i];
    bool drops = kept > 0 && kept < w->row_count;
    if (drops)
        w->row_count = stage->row_total = idle_rows_drop(w, used);
    g_free(used);
    return drops;
}

/* ---- scene ---- */

/* Returns the height of a row; if all rows fit, they share the remaining space. */
static double diagram_view_row_height_pt(const struct view *view)
{
    const struct scene_cache *stage = &view->scene_cache;
    return viewport_max_row_pt(&view->viewport, stage->row_base + stage->window.row_count);
}

static void count_pinned(struct view *view)
{
    const struct window_info *w = &view->scene_cache.window;
    uint32_t n = 0;
    while (n < w->row_count && row_requests_is_pinned(&view->viewport.place, w->rows[n].line))
        n++;
    view->scene_cache.pinned = n;
}

static bool diagram_view_build_scene(struct view *view)
{
    const struct view_style *look = &view->viewer_settings.look;
    struct scene_options options = {.measure = text_cache_width,
                                    .legend = look->legend,
                                    .order_arrows = !look->no_order,
                                    .legend_width_pt =
                                        viewport_along_px(&view->viewport) / 1.25 - 20,
                                    .vertical = viewport_vertical(&view->viewport),
                                    .column_ns = view->viewport.place.column_ns,
                                    .squeeze = look->squeeze,
                                    .threshold_ns = look->threshold_ns,
                                    .noted = view->run_notes.scene,
                                    .noted_count = view->run_notes.notes.count,
                                    .row_pt = diagram_view_row_height_pt(view),
                                    .stuck = view->selection_relations.stuck,
                                    .stuck_count = view->selection_relations.stuck_count};
    bool good = scene_cache_build(&view->scene_cache, view_metadata(view), &options);
    if (good && idle_rows_remove(view)) {
        options.row_pt = diagram_view_row_height_pt(view);
        good = scene_cache_build(&view->scene_cache, view_metadata(view), &options);
    }
    count_pinned(view);
    return good;
}

void diagram_view_rebuild(struct view *view)
{
    if (!view->scene_cache.scene)
        return;
    diagram_view_build_scene(view);
    gtk_widget_queue_draw(view->canvas);
}

/* Anchors the view at a fixed position or time, unless it is at the end. A time and not an event,
 * since the time of an event may be corrected differently with other rows, and the run may begin
 * before its first event in the log. */
static void diagram_view_fix_place(struct view *view)
{
    struct view_state *p = &view->viewport.place;
    p->position = view->scene_cache.window.anchor;
    p->time_ns = p->column_ns ? view->scene_cache.window.time_ns : 0;
    if (p->anchor != ANCHOR_END && !p->follow)
        p->anchor = p->column_ns ? ANCHOR_TIME : ANCHOR_POSITION;
}

#define TOO_MUCH "Too many events per column; use a finer time scale or zoom out"

static void diagram_view_show_excess(struct view *view)
{
    const struct view_state *p = &view->viewport.place;
    status_while(&view->status_line,
                 view->scene_cache.window.unresolved && p->column_ns && !p->overview, TOO_MUCH);
}

/* Chooses the first view of a run, once there is a window for the canvas's final size. */
static void diagram_view_show_whole(struct view *view)
{
    if (!view->diagram_view.whole || viewport_along_px(&view->viewport) <= 0 ||
        view->scene_cache.window.columns < viewport_columns(&view->viewport))
        return;
    view->diagram_view.whole = false;
    if (view_metadata(view)->run.connected)
        return;
    zoom_show_whole(view);
    if (time_range_is_set(view)) {
        idle_end_stop(view);
        range_view_zoom(view);
    }
}

/* Takes ownership of window. */
static void diagram_view_show_window(struct view *view, struct window_info *window)
{
    struct scene_cache *stage = &view->scene_cache;
    request_slot_cancel(&view->server_link, &view->selection_colors.slot);
    window_info_free(&stage->window);
    stage->window = *window;
    stage->colored = false;
    if (!diagram_view_build_scene(view))
        return;
    diagram_view_fix_place(view);
    if (!stage->row_total || stage->row_total < stage->window.row_count)
        stage->row_total = stage->row_base + stage->window.row_count;
    scroll_anchor_settle(&view->viewport);
    row_scrollbar_update(view);
    if (view->diagram_view.fresh)
        line_groups_use_default(view);
    view->diagram_view.fresh = false;
    diagram_view_show_whole(view);
    notifier_emit(&view->notifier, NOTIFY_DIAGRAM);
    diagram_view_show_excess(view);
}

/* ---- requests ---- */

/* Fills in the visible window and its width again on either side, for scrolling. By time, columns
 * are searched from the left edge of the visible part on; or from what is gone to, as there may be
 * more between the two than fits. */
static void diagram_view_fill_request(struct view *view, struct window_request *request)
{
    uint32_t columns = viewport_columns(&view->viewport), beside = columns;
    const struct view_state *p = &view->viewport.place;
    view_state_request(p, request);
    row_requests_for_request(view, request);
    if (p->follow) {
        request->anchor = ANCHOR_END;
        request->move_count = 0;
        request->from = -(int32_t)(columns + beside);
        request->columns = columns + beside;
        request->middle = 0;
    } else {
        request->from = p->from - (int32_t)beside;
        request->columns = columns + 2 * beside;
        request->middle = view->viewport.anchor.active ? 0 : p->from;
    }
    request->columns = MIN(request->columns, LIMIT_COLUMNS);
    request->early = !p->column_ns;
}

#define ROUNDS_MOST 4

static void diagram_view_request_window(struct view *view);

/* Requests the window again if showing it has moved the view: by time, a place is exact only within
 * its window. Returns whether it did. */
static bool diagram_view_request_again(struct view *view)
{
    const struct view_state *p = &view->viewport.place;
    struct diagram_view *picture = &view->diagram_view;
    bool moved = p->from != picture->from || p->shift_pt != picture->shift_pt;
    if (!moved || !p->column_ns || p->overview || p->follow || picture->rounds >= ROUNDS_MOST)
        return false;
    picture->rounds++;
    diagram_view_request_window(view);
    return true;
}

/* Requests the window; state bands, when zoomed out. */
static void diagram_view_request(struct view *view)
{
    view->diagram_view.rounds = 0;
    if (view->viewport.place.overview)
        overview_request(view);
    else
        diagram_view_request_window(view);
}

static void diagram_view_receive_window(void *user, const struct response_chunk *answer)
{
    struct view *view = user;
    struct window_info window;
    bool here = request_slot_read_window(answer, &window);
    if (here) {
        struct scroll_anchor hold = view->viewport.anchor;
        view->diagram_view.leaving = false;
        row_requests_on_window(view, &window);
        diagram_view_show_window(view, &window);
        if (window.unresolved && hold.event.line &&
            !scene_cache_find_mark(&view->scene_cache, hold.event))
            view->viewport.anchor = hold; /* it may be in what is still looked for */
    }
    if (request_slot_resend_needed(&view->diagram_view.placing, answer))
        diagram_view_request(view);
    else if (answer->last && !diagram_view_request_again(view))
        selection_request_colors(view);
    diagram_view_keep_current(view);
    if (here && row_requests_by_events(view) && !view->overview_map.density.row_count)
        overview_map_request(view); /* for the lines known by now */
}

void diagram_view_keep_current(struct view *view)
{
    if (!view->diagram_view.leaving ||
        request_slot_is_running(&view->server_link, &view->diagram_view.placing))
        return;
    view->diagram_view.leaving = false;
    gtk_widget_queue_draw(view->canvas);
}

static void diagram_view_request_window(struct view *view)
{
    struct window_request request;
    if (view->scene_cache.scene &&
        fabs(view->scene_cache.scene->row_pt - diagram_view_row_height_pt(view)) > 0.01)
        diagram_view_rebuild(view); /* the zoom or the size has changed */
    if (!request_slot_try_acquire(&view->server_link, &view->diagram_view.placing))
        return;
    request_slot_cancel(&view->server_link,
                        &view->selection_colors.slot); /* for the previous window */
    diagram_view_fill_request(view, &request);
    view->diagram_view.from = view->viewport.place.from;
    view->diagram_view.shift_pt = view->viewport.place.shift_pt;
    request_slot_request_window(&view->server_link, &view->diagram_view.placing, &request,
                                diagram_view_receive_window, view);
}

void diagram_view_on_notification(struct view *view, enum notification what)
{
    if (what == NOTIFY_ACTIONS) {
        diagram_view_show_excess(view);
        return;
    }
    diagram_view_request(view);
    diagram_view_keep_current(view);
}
