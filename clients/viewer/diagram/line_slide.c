#include "clients/viewer/diagram/line_slide.h"

#include "clients/connection/view_state.h"
#include "clients/viewer/state/viewport.h"
#include "clients/viewer/state/history.h"
#include "clients/viewer/state/scroll_anchor.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/status_line.h"
#include "clients/viewer/diagram/viewer.h"
#include "base/alloc.h"
#include "wire/request_body.h"
#include "wire/layout_results.h"
#include "wire/trace_view.h"

/* Returns the number of events of a line left of a column. */
static int64_t line_slide_left_neighbor(const struct window_info *w, uint32_t line, uint64_t left,
                                        int32_t column)
{
    int64_t n = (int64_t)left;
    for (uint32_t i = 0; i < w->event_count; i++)
        n += w->events[i].at.line == line && w->events[i].column < column;
    return n;
}

static void line_slide_set_edge(struct view_state *p, const struct window_info *w, int32_t column)
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
                line_slide_left_neighbor(w, row->members[k], row->lefts[k], column)};
        }
        moves[count++] = (struct layout_move){row->line, true,
                                              line_slide_left_neighbor(w, row->line, own, column)};
    }
    scroll_anchor_forget_moves(p);
    p->moves = moves;
    p->move_count = count;
}

/* If the anchor is not visible, makes the nearer edge of the visible part the anchor, which leaves
 * the diagram unchanged (docs/order.md). */
static void anchor_at_edge(struct view *view)
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
    line_slide_set_edge(p, w, edge);
    p->anchor = ANCHOR_POSITION;
    p->position = position;
    p->from -= edge;
}

void line_slide_shift(struct view *view, uint32_t line, int events)
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
    anchor_at_edge(view);
    view_state_move(p, line, events);
    notifier_emit(&view->notifier, NOTIFY_PLACE);
}
