#include "clients/viewer/diagram/scrolling.h"

#include "base/alloc.h"
#include "clients/connection/view_state.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/selection.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/history.h"
#include "clients/viewer/state/scene_cache.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/state/viewport.h"
#include "render/scene.h"
#include "wire/layout_results.h"
#include "wire/request.h"
#include "wire/trace_view.h"

#include <math.h>

/* As in OLT: if the selected event is not visible, selects the nearest one of its row that is. Not
 * while another place is being gone to: an event that was selected since is not visible yet. */
static gboolean scroll_on_reselect(gpointer data)
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
        view->scroll.reselect = g_timeout_add(300, scroll_on_reselect, view);
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

/* ---- one line ---- */

/* Returns the number of events of a line left of a column. */
static int64_t scroll_line_count_left(const struct window_info *w, uint32_t line, uint64_t left,
                                      int32_t column)
{
    int64_t n = (int64_t)left;
    for (uint32_t i = 0; i < w->event_count; i++)
        n += w->events[i].at.line == line && w->events[i].column < column;
    return n;
}

static void scroll_line_set_edge(struct view_state *p, const struct window_info *w, int32_t column)
{
    uint32_t count = 0, room = 1;
    for (uint32_t i = 0; i < w->row_count; i++)
        room += 1 + w->rows[i].member_count;
    struct layout_move *moves = xcalloc(room, sizeof *moves);
    for (uint32_t i = 0; i < w->row_count; i++) {
        const struct row_info *row = &w->rows[i];
        uint64_t own = row->left;
        for (uint32_t k = 0; k < row->member_count; k++) {
            own -= row->lefts[k];
            moves[count++] = (struct layout_move){
                row->members[k], true,
                scroll_line_count_left(w, row->members[k], row->lefts[k], column)};
        }
        moves[count++] = (struct layout_move){row->line, true,
                                              scroll_line_count_left(w, row->line, own, column)};
    }
    scroll_anchor_forget_moves(p);
    p->moves = moves;
    p->move_count = count;
}

/* If the anchor is not visible, makes the nearer edge of the visible part the anchor, which leaves
 * the diagram unchanged (docs/order.md). */
static void scroll_line_anchor_edge(struct view *view)
{
    struct view_state *p = &view->viewport.place;
    const struct window_info *w = &view->scene_cache.window;
    int32_t columns = (int32_t)viewport_columns(&view->viewport),
            edge = p->from > 0 ? p->from : p->from + columns;
    if (p->from <= 0 && edge >= 0)
        return; /* the anchor is visible */
    uint64_t position = p->from > 0 ? UINT64_MAX : 0;
    for (uint32_t i = 0; i < w->event_count; i++) {
        const struct event_info *e = &w->events[i];
        if (p->from > 0 && e->column >= edge)
            position = MIN(position, e->position);
        else if (p->from <= 0 && e->column < edge)
            position = MAX(position, e->position + 1);
    }
    if (position == UINT64_MAX)
        return;
    scroll_line_set_edge(p, w, edge);
    p->anchor = ANCHOR_POSITION;
    p->position = position;
    p->from -= edge;
}

void scroll_line(struct view *view, uint32_t line, int events)
{
    struct view_state *p = &view->viewport.place;
    if (!view->scene_cache.scene || !line || p->overview)
        return;
    if (p->column_ns) {
        status_line_show(&view->status_line, "Lines cannot be slid on the time scale");
        return;
    }
    if (p->fold) {
        status_line_show(&view->status_line, "Expand collapsed repeats first");
        return;
    }
    history_mark(&view->history, "line");
    scroll_anchor_leave_follow(&view->viewport);
    p->anchor = ANCHOR_POSITION;
    scroll_line_anchor_edge(view);
    view_state_move(p, line, events);
    notifier_emit(&view->notifier, NOTIFY_PLACE);
}
