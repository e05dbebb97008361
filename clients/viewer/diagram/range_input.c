#include "clients/viewer/diagram/range_input.h"

#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/range_view.h"
#include "clients/viewer/diagram/row_requests.h"
#include "clients/viewer/diagram/state_bands_view.h"
#include "clients/viewer/diagram/time_axis.h"
#include "clients/viewer/diagram/time_range.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/history.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_PX 4 /* a shorter drag is a click */
#define NEAR_PX 4 /* an end can be grasped this near */

struct range_input {
    bool dragging, moved, rows, moves_end;
    double from_px, from_y_px; /* where it began, or the other end that stays */
    struct view_state_range before;
};

static const struct viewer_addon range_input_addon = {"range_input", sizeof(struct range_input)};

static struct range_input *range_input_state(struct view *view)
{
    struct range_input *d = viewer_addons_find(&view->addons, &range_input_addon);
    return d ? d : viewer_addons_add(&view->addons, &range_input_addon);
}

/* ---- places ---- */

static bool range_input_near(double a_px, double b_px) { return fabs(a_px - b_px) <= NEAR_PX; }

enum range_input_place range_input_at(struct view *view, double x, double y)
{
    double from, to;
    bool bands = view->viewport.place.overview;
    if (x < viewport_names_px(&view->viewport) || (!bands && !view->scene_cache.scene) ||
        (!bands && viewport_hit(&view->viewport, x, y)))
        return RANGE_INPUT_NONE;
    if (range_view_ends(view, &from, &to) && (range_input_near(x, from) || range_input_near(x, to)))
        return RANGE_INPUT_END;
    return y < RANGE_VIEW_RULER_PX ? RANGE_INPUT_RULER : RANGE_INPUT_NONE;
}

/* ---- rows ---- */

/* Returns the line of the n-th row; 0: there is none. */
static uint32_t range_input_row_line(const struct view *view, uint32_t row)
{
    const struct scene *s = view->scene_cache.scene;
    if (view->viewport.place.overview)
        return row < view->overview.strip.row_count ? view->overview.strip.rows[row] : 0;
    return s && row < s->row_count ? s->rows[row].line : 0;
}

static uint32_t range_input_row_count(const struct view *view)
{
    const struct scene *s = view->scene_cache.scene;
    return view->viewport.place.overview ? view->overview.strip.row_count : s ? s->row_count : 0;
}

/* Returns the row at a place across the lines: the first or the last one beyond them. */
static uint32_t range_input_row_at(const struct view *view, double y)
{
    uint32_t rows = range_input_row_count(view);
    if (view->viewport.place.overview) {
        uint32_t row = bands_view_row_at(view, y);
        return row < rows ? row : y <= RANGE_VIEW_RULER_PX + 4 || !rows ? 0 : rows - 1;
    }
    int row = viewport_row_at(&view->viewport, y);
    return row >= 0 ? (uint32_t)row : !rows || y < viewport_y_px(&view->viewport, 0) ? 0 : rows - 1;
}

static void range_input_add_thread(struct view *view, GArray *lines, uint32_t line)
{
    const struct line_metadata *about = metadata_line(view_metadata(view), line);
    if (about && !about->is.shared)
        g_array_append_val(lines, line);
}

/* Appends the threads of a row: of each line of a group. */
static void range_input_add_row(struct view *view, GArray *lines, uint32_t row)
{
    const struct view_state *p = &view->viewport.place;
    uint32_t line = range_input_row_line(view, row), at = row_requests_index(p, line);
    if (at >= p->row_count) {
        range_input_add_thread(view, lines, line);
        return;
    }
    for (uint32_t i = row_requests_first(p, at), end = row_requests_end(p, at); i < end; i++)
        range_input_add_thread(view, lines, p->rows[i].line);
}

/* ---- ranges ---- */

/* Gets the times of the first and the last mark between two places, in a scene by order. */
static bool range_input_marks(const struct view *view, double from, double to,
                              struct view_state_range *range)
{
    const struct scene *s = view->scene_cache.scene;
    bool any = false;
    for (uint32_t i = 0; i < s->mark_count; i++) {
        const struct scene_mark *m = &s->marks[i];
        double x = viewport_x_px(&view->viewport, m);
        int64_t ns = m->event->time_ns;
        if (m->state == EVENT_PENDING || x < from || x > to)
            continue;
        range->from_ns = any ? MIN(range->from_ns, ns) : ns;
        range->to_ns = any ? MAX(range->to_ns, ns + 1) : ns + 1;
        any = true;
    }
    range->by_order = any;
    return any;
}

/* Selects what is between two places. */
static void range_input_select(struct view *view, const struct range_input *d, double a, double b,
                               double y)
{
    const struct view_state *p = &view->viewport.place;
    const struct state_bands *s = &view->overview.strip;
    GArray *lines = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    double from = MIN(a, b), to = MAX(a, b);
    struct view_state_range range = {0};
    if (d->rows) {
        uint32_t first = range_input_row_at(view, MIN(d->from_y_px, y)),
                 last = range_input_row_at(view, MAX(d->from_y_px, y));
        for (uint32_t i = first; i <= last && i < range_input_row_count(view); i++)
            range_input_add_row(view, lines, i);
        range.lines = (uint32_t *)(void *)lines->data;
        range.line_count = lines->len;
    } else if (d->moves_end) {
        range.lines = d->before.lines;
        range.line_count = d->before.line_count;
    }
    if (p->overview && !s->by_time) {
        uint64_t first = overview_position(view, from), end = overview_position(view, to);
        range_ends_select(view, first, end > first ? end - 1 : first, &range);
    } else if (!p->overview && !p->column_ns) {
        if (range_input_marks(view, from, to, &range))
            time_range_set_silently(view, &range);
    } else if (range_view_time(view, from, &range.from_ns) &&
               range_view_time(view, to, &range.to_ns)) {
        time_range_set_silently(view, &range);
    }
    g_array_free(lines, TRUE);
}

/* ---- dragging ---- */

bool range_input_press(struct view *view, double x, double y, bool rows)
{
    struct range_input *d = range_input_state(view);
    enum range_input_place at = range_input_at(view, x, y);
    double from, to;
    if (at == RANGE_INPUT_NONE && (!rows || x < viewport_names_px(&view->viewport)))
        return false;
    free(d->before.lines);
    *d = (struct range_input){.dragging = true,
                              .rows = rows && at == RANGE_INPUT_NONE,
                              .from_px = x,
                              .from_y_px = y,
                              .before = view_state_range_copy(&view->viewport.place.range)};
    d->moves_end = at == RANGE_INPUT_END && range_view_ends(view, &from, &to);
    if (d->moves_end)
        d->from_px =
            range_input_near(x, from) && !(x > from && range_input_near(x, to)) ? to : from;
    view->pointer.pressed_px = x;
    return true;
}

void range_input_drag(struct view *view, double x, double y)
{
    struct range_input *d = range_input_state(view);
    const struct view_state *p = &view->viewport.place;
    x = MAX(x, viewport_names_px(&view->viewport));
    if (!d->dragging || (!d->moved && fabs(x - view->pointer.pressed_px) < LEAST_PX))
        return;
    if (!d->moved)
        history_mark(&view->history, "range");
    d->moved = true;
    if (!p->overview || view->overview.strip.by_time)
        range_input_select(view, d, d->from_px, x, y);
    else
        gtk_widget_queue_draw(view->canvas); /* its times will be known when it is released */
}

void range_input_release(struct view *view, double x, double y, bool second)
{
    struct range_input *d = range_input_state(view);
    const struct view_state *p = &view->viewport.place;
    int64_t ns;
    x = MAX(x, viewport_names_px(&view->viewport));
    bool moved = d->moved;
    if (d->dragging && moved)
        range_input_select(view, d, d->from_px, x, y);
    else if (d->dragging && !d->rows && !d->moves_end && range_view_time(view, x, &ns))
        time_range_place_cursor(view, ns, second);
    else if (d->dragging && !d->rows && p->overview)
        status_line_show(&view->status_line, "Place the overview by time (T) for cursors");
    d->dragging = d->moved = false;
    if (moved)
        notifier_emit(&view->notifier, NOTIFY_RANGE);
}

bool range_input_cancel(struct view *view)
{
    struct range_input *d = range_input_state(view);
    bool dragging = d->dragging;
    d->dragging = d->moved = false;
    if (dragging)
        time_range_set_silently(view, &d->before);
    return dragging;
}

/* ---- without the pointer ---- */

/* Selects from the first to the second time, whichever is later; last: the event there included. */
static void range_input_set(struct view *view, int64_t a, int64_t b, bool last)
{
    time_range_set(view,
                   &(struct view_state_range){.from_ns = MIN(a, b), .to_ns = MAX(a, b) + last});
}

void range_input_choose(struct view *view)
{
    static const struct range_input pointer_at_edges;
    const struct view_state *p = &view->viewport.place;
    int64_t a, b;
    if (p->cursor_count == CURSORS_MOST) {
        range_input_set(view, p->cursors_ns[0], p->cursors_ns[1], false);
    } else if (time_range_event_ns(view, p->selected, &a) &&
               time_range_event_ns(view, p->second, &b)) {
        range_input_set(view, a, b, true);
    } else if (p->overview || view->scene_cache.scene) {
        history_mark(&view->history, "range");
        range_input_select(view, &pointer_at_edges, viewport_names_px(&view->viewport),
                           viewport_along_px(&view->viewport), 0);
    }
}
