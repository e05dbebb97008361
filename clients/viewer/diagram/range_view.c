#include "clients/viewer/diagram/range_view.h"

#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/row_requests.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/state_bands_view.h"
#include "clients/viewer/diagram/time_axis.h"
#include "clients/viewer/diagram/time_range.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/history.h"
#include "render/scene_paint.h"
#include "render/text_cache.h"

#include <math.h>

#define LABEL_PT 8.5
#define DIM 0.55 /* of what is outside */

/* ---- places and times ---- */

static double range_view_share_px(const struct view *view, double at)
{
    const struct state_bands *s = &view->overview.strip;
    return viewport_names_px(&view->viewport) +
           (at - (double)s->from) / ((double)s->to - (double)s->from) * overview_width_px(view);
}

/* Gets the place of a time; returns false if it is unknown. */
static bool range_view_x(struct view *view, int64_t ns, double *x_px)
{
    const struct state_bands *s = &view->overview.strip;
    const struct time_axis *axis = time_axis_of(view);
    bool bands = view->viewport.place.overview && s->row_count && s->by_time && s->to > s->from;
    if (bands)
        *x_px = range_view_share_px(view, (double)ns);
    else if (axis)
        *x_px = time_axis_screen_x(view, time_axis_x_pt(axis, ns));
    return bands || axis;
}

bool range_view_time(struct view *view, double x_px, int64_t *ns)
{
    const struct state_bands *s = &view->overview.strip;
    const struct time_axis *axis = time_axis_of(view);
    double share = (x_px - viewport_names_px(&view->viewport)) / overview_width_px(view);
    bool bands = view->viewport.place.overview && s->row_count && s->by_time;
    if (bands)
        *ns = s->from + llround(CLAMP(share, 0, 1) * (double)(s->to - s->from));
    else if (axis)
        *ns = time_axis_ns(axis, time_axis_scene_x(view, x_px));
    return bands || axis;
}

/* Gets the places of the first and the last mark in the range, in a scene by order: others may be
 * between them. */
static bool range_view_marks(struct view *view, double *from_px, double *to_px)
{
    const struct view_state_range *r = &view->viewport.place.range;
    const struct scene *s = view->scene_cache.scene;
    double half = SCENE_COLUMN_PT / 2 * view->viewport.place.zoom;
    bool any = false;
    for (uint32_t i = 0; i < s->mark_count; i++) {
        const struct scene_mark *m = &s->marks[i];
        double x = viewport_x_px(&view->viewport, m);
        if (m->state == EVENT_PENDING || m->event->time_ns < r->from_ns ||
            m->event->time_ns >= r->to_ns)
            continue;
        *from_px = any ? MIN(*from_px, x - half) : x - half;
        *to_px = any ? MAX(*to_px, x + half) : x + half;
        any = true;
    }
    return any;
}

bool range_view_ends(struct view *view, double *from_px, double *to_px)
{
    const struct view_state *p = &view->viewport.place;
    const struct state_bands *s = &view->overview.strip;
    if (!time_range_is_set(view))
        return false;
    if (p->overview && s->row_count && !s->by_time) {
        double first, last;
        if (s->to <= s->from || !range_ends_positions(view, &first, &last))
            return false;
        *from_px = range_view_share_px(view, first);
        *to_px = range_view_share_px(view, last);
        return true;
    }
    if (!p->overview && !p->column_ns && view->scene_cache.scene)
        return range_view_marks(view, from_px, to_px);
    return range_view_x(view, p->range.from_ns, from_px) &&
           range_view_x(view, p->range.to_ns, to_px);
}

/* ---- drawing ---- */

static void range_view_set_accent(const struct view *view, cairo_t *cr, double opaque)
{
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    if (theme.grey)
        cairo_set_source_rgba(cr, 0.4, 0.4, 0.4, opaque);
    else if (theme.dark)
        cairo_set_source_rgba(cr, 0.25, 0.5, 0.9, opaque);
    else
        cairo_set_source_rgba(cr, 0.1, 0.36, 0.75, opaque);
}

static void range_view_set_ink(const struct view *view, cairo_t *cr)
{
    double ink = viewer_settings_theme(&view->viewer_settings).dark ? 0.92 : 0.12;
    cairo_set_source_rgb(cr, ink, ink, ink);
}

/* Writes a text on a ground of the present color, upright, with its middle at x_px but within the
 * columns. */
static void range_view_label(struct view *view, cairo_t *cr, double x_px, double y_px,
                             const char *text, double brightness)
{
    bool turned = viewport_vertical(&view->viewport);
    double width = text_cache_width(NULL, text, LABEL_PT, false) + 12, high = 15,
           names = viewport_names_px(&view->viewport), end = viewport_along_px(&view->viewport),
           x = turned ? CLAMP(x_px - high / 2, names, MAX(names, end - high))
                      : CLAMP(x_px - width / 2, names + 1, MAX(names + 1, end - width - 2));
    cairo_save(cr);
    if (turned) {
        double across = y_px;
        painter_rotate(cr);
        y_px = x;
        x = across;
    }
    cairo_rectangle(cr, round(x), y_px, width, high);
    cairo_fill(cr);
    cairo_set_source_rgb(cr, brightness, brightness, brightness);
    text_cache_show(cr, round(x) + 6, y_px + 1, text, LABEL_PT, false);
    cairo_restore(cr);
}

static void range_view_line(cairo_t *cr, double x_px, int height)
{
    cairo_rectangle(cr, round(x_px) - 1, 0, 2, height);
    cairo_fill(cr);
}

/* Returns whether the line is one of the range's threads, or it is of all. */
static bool range_view_has_line(const struct view_state_range *r, uint32_t line)
{
    for (uint32_t i = 0; i < r->line_count; i++)
        if (r->lines[i] == line)
            return true;
    return !r->line_count;
}

/* Returns whether the row with this first line is of the range. */
static bool range_view_has_row(const struct view *view, uint32_t line)
{
    const struct view_state *p = &view->viewport.place;
    uint32_t at = row_requests_index(p, line);
    if (at >= p->row_count)
        return range_view_has_line(&p->range, line);
    for (uint32_t i = row_requests_first(p, at), end = row_requests_end(p, at); i < end; i++)
        if (range_view_has_line(&p->range, p->rows[i].line))
            return true;
    return false;
}

/* Adds the rows that are not of the range to the path. */
static void range_view_other_rows(struct view *view, cairo_t *cr, double from_px, double to_px)
{
    const struct viewport *v = &view->viewport;
    const struct scene *s = view->scene_cache.scene;
    bool bands = v->place.overview;
    uint32_t rows = bands ? view->overview.strip.row_count : s ? s->row_count : 0;
    double high = viewport_row_pt(v) * (bands ? 1 : v->place.zoom);
    for (uint32_t i = 0; v->place.range.line_count && i < rows; i++) {
        if (range_view_has_row(view, bands ? view->overview.strip.rows[i] : s->rows[i].line))
            continue;
        double top = bands ? bands_view_y_px(view, i) - high / 2
                           : viewport_y_px(v, i) - viewport_line_pt(v) * v->place.zoom;
        if (top + high > RANGE_VIEW_RULER_PX)
            cairo_rectangle(cr, from_px, MAX(top, RANGE_VIEW_RULER_PX), to_px - from_px,
                            MIN(high, top + high - RANGE_VIEW_RULER_PX));
    }
}

/* Dims what is not of the range, below the ruler. */
static void range_view_dim(struct view *view, cairo_t *cr, double from_px, double to_px, int width,
                           int height)
{
    double ground = painter_brightness(viewer_settings_theme(&view->viewer_settings).dark),
           names = viewport_names_px(&view->viewport), top = RANGE_VIEW_RULER_PX;
    cairo_set_source_rgba(cr, ground, ground, ground, DIM);
    if (from_px > names)
        cairo_rectangle(cr, names, top, from_px - names, height - top);
    if (to_px < width)
        cairo_rectangle(cr, MAX(to_px, names), top, width - MAX(to_px, names), height - top);
    range_view_other_rows(view, cr, MAX(from_px, names), MIN(to_px, width));
    cairo_fill(cr);
}

/* Dims what is outside, and draws the ends and the range in the ruler. */
static void range_view_draw_area(struct view *view, cairo_t *cr, double from_px, double to_px,
                                 int width, int height)
{
    bool bands = view->viewport.place.overview;
    int bottom = bands ? (int)bands_view_bottom_px(view, height) : height;
    range_view_dim(view, cr, from_px, to_px, width, bottom);
    range_view_set_accent(view, cr, 0.18);
    cairo_rectangle(cr, from_px, 0, MAX(to_px - from_px, 1), RANGE_VIEW_RULER_PX);
    cairo_fill(cr);
    range_view_set_accent(view, cr, 1);
    range_view_line(cr, from_px, bottom);
    range_view_line(cr, to_px, bottom);
}

/* Draws the text of the range: where it is, or at the edge beyond which it is. */
static void range_view_draw_text(struct view *view, cairo_t *cr, double from_px, double to_px,
                                 int width)
{
    double names = viewport_names_px(&view->viewport);
    bool turned = viewport_vertical(&view->viewport), before = to_px <= names,
         after = from_px >= width;
    char *text = time_range_text(view);
    char *pointed = before  ? g_strconcat(turned ? "▲ " : "◀ ", text, NULL)
                    : after ? g_strconcat(turned ? "▼ " : "▶ ", text, NULL)
                            : g_strdup(text);
    range_view_set_accent(view, cr, 1);
    range_view_label(view, cr,
                     before  ? names
                     : after ? width
                             : (MAX(from_px, names) + MIN(to_px, width)) / 2,
                     1, pointed, 1);
    g_free(pointed);
    g_free(text);
}

static void range_view_draw_range(struct view *view, cairo_t *cr, int width, int height)
{
    double from, to, names = viewport_names_px(&view->viewport);
    if (!time_range_is_set(view))
        return;
    if (!range_view_ends(view, &from, &to))
        from = to = names + (width - names) / 2; /* not known yet: only its text is drawn */
    else if (to > names && from < width)
        range_view_draw_area(view, cr, from, to, width, height);
    range_view_draw_text(view, cr, from, to, width);
}

/* ---- cursors ---- */

/* Returns the brightness of what is written on ink. */
static double range_view_ground(const struct view *view)
{
    return viewer_settings_theme(&view->viewer_settings).dark ? 0.1 : 1;
}

static void range_view_cursor_line(struct view *view, cairo_t *cr, double x_px, int height)
{
    static const double dashes[] = {4, 3};
    range_view_set_ink(view, cr);
    cairo_set_line_width(cr, 1);
    cairo_set_dash(cr, dashes, 2, 0);
    cairo_move_to(cr, floor(x_px) + 0.5, 0);
    cairo_line_to(cr, floor(x_px) + 0.5, height);
    cairo_stroke(cr);
    cairo_set_dash(cr, NULL, 0, 0);
}

/* Draws the distance of the cursors between them, as far as that is visible. */
static void range_view_distance(struct view *view, cairo_t *cr, const double *x_px)
{
    const int64_t *ns = view->viewport.place.cursors_ns;
    double ground = range_view_ground(view), y = RANGE_VIEW_RULER_PX + 24.5,
           from = MAX(MIN(x_px[0], x_px[1]), viewport_names_px(&view->viewport)),
           to = MIN(MAX(x_px[0], x_px[1]), viewport_along_px(&view->viewport));
    if (from > to)
        return;
    char *length = time_range_time_text(llabs(ns[1] - ns[0])),
         *text = g_strdup_printf("%s apart", length);
    range_view_set_ink(view, cr);
    cairo_rectangle(cr, from, y - 0.5, to - from, 1);
    cairo_fill(cr);
    range_view_label(view, cr, (from + to) / 2, y - 7.5, text, ground);
    g_free(text);
    g_free(length);
}

static void range_view_draw_cursor(struct view *view, cairo_t *cr, int64_t ns, double x_px,
                                   int height)
{
    if (x_px < viewport_names_px(&view->viewport) || x_px > viewport_along_px(&view->viewport))
        return;
    char *text = time_range_time_text(ns);
    range_view_cursor_line(view, cr, x_px, height);
    range_view_label(view, cr, x_px, RANGE_VIEW_RULER_PX, text, range_view_ground(view));
    g_free(text);
}

/* Gets the place of a cursor: beyond the scene if its time is. */
static bool range_view_cursor_x(struct view *view, int64_t ns, double *x_px)
{
    const struct time_axis *axis = time_axis_of(view);
    int64_t from_ns, to_ns;
    if (!range_view_x(view, ns, x_px))
        return false;
    if (axis && !view->viewport.place.overview) {
        time_axis_span(axis, &from_ns, &to_ns);
        *x_px = ns < from_ns ? -1e6 : ns > to_ns ? 1e6 : *x_px;
    }
    return true;
}

static void range_view_draw_cursors(struct view *view, cairo_t *cr, int height)
{
    const struct view_state *p = &view->viewport.place;
    double x[CURSORS_MOST] = {0};
    uint32_t known = 0;
    while (known < p->cursor_count && range_view_cursor_x(view, p->cursors_ns[known], &x[known]))
        known++;
    if (known == CURSORS_MOST)
        range_view_distance(view, cr, x);
    for (uint32_t i = 0; i < known; i++)
        range_view_draw_cursor(view, cr, p->cursors_ns[i], x[i], height);
}

/* Returns whether a range is dragged without times that are known yet: in an overview by order. */
static bool range_view_is_pending(const struct view *view)
{
    return view->pointer.drag.what == DRAG_RANGE && view->viewport.place.overview &&
           !view->overview.strip.by_time;
}

/* Draws from where it was pressed to the pointer. */
static void range_view_draw_pending(struct view *view, cairo_t *cr, int height)
{
    double from = MIN(view->pointer.drag.x, view->pointer.x),
           to = MAX(view->pointer.drag.x, view->pointer.x),
           bottom = bands_view_bottom_px(view, height);
    range_view_set_accent(view, cr, 0.25);
    cairo_rectangle(cr, from, 0, to - from, bottom);
    cairo_fill(cr);
    range_view_set_accent(view, cr, 1);
    range_view_line(cr, from, (int)bottom);
    range_view_line(cr, to, (int)bottom);
}

void range_view_draw(struct view *view, cairo_t *cr, int width, int height)
{
    double names = viewport_names_px(&view->viewport);
    if (!time_range_is_set(view) && !view->viewport.place.cursor_count &&
        !range_view_is_pending(view))
        return;
    cairo_save(cr);
    cairo_rectangle(cr, names, 0, width - names, height);
    cairo_clip(cr);
    range_view_draw_range(view, cr, width, height);
    range_view_draw_cursors(view, cr, height);
    if (range_view_is_pending(view))
        range_view_draw_pending(view, cr, height);
    cairo_restore(cr);
}

/* ---- zooming ---- */

#define ZOOM_COLUMN_NS 10000u /* time per column below the overview, if there was none */

/* Enlarges marks until the range fills the canvas; returns false if it does so only with smaller
 * ones. */
static bool range_view_zoom_marks(struct view *view)
{
    struct view_state *p = &view->viewport.place;
    double from, to, names = viewport_names_px(&view->viewport),
                     width = viewport_along_px(&view->viewport) - names;
    if (p->overview || !view->scene_cache.scene || !range_view_ends(view, &from, &to) ||
        from < names || to - from > width)
        return false;
    double left = time_axis_scene_x(view, from), factor = width / MAX(to - from, 1);
    p->zoom = MIN(p->zoom * factor, VIEWPORT_MAX_ZOOM);
    scroll_to(view, left);
    row_scrollbar_update(view);
    notifier_emit(&view->notifier, NOTIFY_LOOK);
    notifier_emit(&view->notifier, NOTIFY_PLACE);
    return true;
}

void range_view_zoom(struct view *view)
{
    struct view_state *p = &view->viewport.place;
    if (!time_range_is_set(view)) {
        status_line_show(&view->status_line, "Select a range to zoom to it: drag over the ruler");
        return;
    }
    history_mark(&view->history, "zoom to range");
    if (range_view_zoom_marks(view))
        return;
    scroll_anchor_leave_follow(&view->viewport);
    p->column_ns = p->column_ns ? p->column_ns : ZOOM_COLUMN_NS;
    p->overview = true;
    p->overview_from = (double)p->range.from_ns;
    p->overview_to = (double)p->range.to_ns;
    overview_request(view);
    notifier_emit(&view->notifier, NOTIFY_ROWS);
    notifier_emit(&view->notifier, NOTIFY_SETTINGS);
    notifier_emit(&view->notifier, NOTIFY_ACTIONS);
}
