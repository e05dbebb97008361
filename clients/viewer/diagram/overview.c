#include "clients/viewer/diagram/overview.h"

#include "clients/connection/view_state.h"
#include "clients/viewer/diagram/row_requests.h"
#include "clients/viewer/diagram/scrolling.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/history.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/viewport.h"
#include "render/scene.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_EVENTS 50.0 /* across the canvas; with fewer, zooming in shows marks */

double overview_width_px(const struct view *view)
{
    return MAX(viewport_along_px(&view->viewport) - viewport_names_px(&view->viewport), 16);
}

/* ---- requests ---- */

static void overview_pinned_count(struct view *view)
{
    const struct state_bands *strip = &view->overview.strip;
    uint32_t n = 0;
    while (n < strip->row_count && row_requests_is_pinned(&view->viewport.place, strip->rows[n]))
        n++;
    view->scene_cache.pinned = n;
}

static void lines_free(struct overview_lines *l)
{
    free(l->lines);
    free(l->joined);
    *l = (struct overview_lines){0};
}

static void overview_replace_bands(struct overview *overview, struct state_bands *strip)
{
    state_bands_free(&overview->strip);
    lines_free(&overview->shown);
    overview->strip = *strip;
    overview->serial++;
    overview->shown.count = overview->asked.count;
    overview->shown.lines =
        g_memdup2(overview->asked.lines, overview->asked.count * sizeof *overview->asked.lines);
    overview->shown.joined = g_memdup2(overview->asked.joined, overview->asked.count);
}

void overview_clear(struct view *view)
{
    uint64_t serial = view->overview.serial + 1;
    state_bands_free(&view->overview.strip);
    lines_free(&view->overview.shown);
    lines_free(&view->overview.asked);
    view->overview = (struct overview){.serial = serial};
}

static void note_row(GArray *rows, uint32_t line, guint row)
{
    if (rows->len <= line)
        g_array_set_size(rows, line + 1);
    g_array_index(rows, guint, line) = row;
}

GArray *overview_rows_of_lines(const struct view *view)
{
    GArray *rows = g_array_new(FALSE, TRUE, sizeof(guint));
    const struct overview_lines *l = &view->overview.shown;
    const struct state_bands *s = &view->overview.strip;
    for (uint32_t i = 0; !l->count && i < s->row_count; i++)
        note_row(rows, s->rows[i], i + 1);
    for (uint32_t i = 0, row = 0; i < l->count; i++) {
        if (row < s->row_count && l->lines[i] == s->rows[row])
            row++; /* a row is identified by the first of its lines that exists */
        if (row)
            note_row(rows, l->lines[i], row);
    }
    return rows;
}

/* Returns "{T:producer… ×3}"; the ellipsis if the names differ, apart from "#2". */
static char *cluster_label(struct view *view, const uint32_t *lines, uint32_t count)
{
    const char *first = metadata_label(view_metadata(view), lines[0]);
    size_t bytes = strcspn(first, "#");
    bool same = true;
    for (uint32_t i = 1; i < count; i++) {
        const char *other = metadata_label(view_metadata(view), lines[i]);
        same &= strcspn(other, "#") == bytes && strncmp(first, other, bytes) == 0;
    }
    return g_strdup_printf("{%.*s%s ×%u}", (int)bytes, first, same ? "" : "…", count);
}

char *overview_label(struct view *view, uint32_t row)
{
    const struct overview_lines *l = &view->overview.shown;
    uint32_t line = view->overview.strip.rows[row], first = 0, end;
    while (first < l->count && l->lines[first] != line)
        first++;
    for (end = first + 1; end < l->count && l->joined[end];)
        end++;
    return first < l->count && end > first + 1
               ? cluster_label(view, l->lines + first, end - first)
               : g_strdup(metadata_label(view_metadata(view), line));
}

static void overview_receive_bands(void *user, const struct response_chunk *answer)
{
    struct view *view = user;
    struct view_state *p = &view->viewport.place;
    struct state_bands strip = {0};
    if (answer->part == RESPONSE_STATE_BANDS) {
        decode_state_bands(answer->in, &strip);
        if (!decoder_finish(answer->in)) {
            state_bands_free(&strip);
            return;
        }
        overview_replace_bands(&view->overview, &strip);
        view->scene_cache.row_total = strip.row_count;
        overview_pinned_count(view);
        /* requested before the axis was changed, the range is in other units */
        bool fits = strip.by_time == (p->column_ns > 0);
        if (fits && p->overview_to <= p->overview_from && strip.known == strip.count) {
            p->overview_from = (double)strip.from;
            p->overview_to = (double)strip.to;
        }
        if (fits && idle_end_shorten(view))
            overview_request(view);
        row_scrollbar_update(view);
        notifier_emit(&view->notifier, NOTIFY_VISIBLE_PART);
    }
    if (answer->last && request_slot_resend_needed(&view->overview.counting, answer))
        notifier_emit(&view->notifier, NOTIFY_PLACE);
}

void overview_request(struct view *view)
{
    if (!request_slot_try_acquire(&view->server_link, &view->overview.counting))
        return;
    struct window_request rows;
    struct encoder body = {0};
    if (!row_requests_for_density(view, &rows))
        return;
    struct density_request request = {.by_time = view->viewport.place.column_ns > 0,
                                      .pixels = (uint32_t)MAX(overview_width_px(view), 16),
                                      .from = (int64_t)view->viewport.place.overview_from,
                                      .to = (int64_t)view->viewport.place.overview_to,
                                      .rows = rows.rows,
                                      .joined = rows.joined,
                                      .row_count = rows.row_count};
    encode_density_request(&body, &request);
    lines_free(&view->overview.asked);
    view->overview.asked = (struct overview_lines){rows.rows, rows.joined, rows.row_count};
    request_slot_send(&view->server_link, &view->overview.counting, REQUEST_STATE_BANDS, &body,
                      overview_receive_bands, view);
}

/* ---- zooming and panning ---- */

/* Clamps the range, which gets this span, to the run, within the bounds that the overview map
 * knows. */
static void clamp_range(struct view *view, double span)
{
    struct view_state *p = &view->viewport.place;
    const struct density_info *d = &view->overview_map.density;
    double first = p->column_ns ? (double)d->from : 0,
           last = p->column_ns ? (double)d->to : (double)MAX(view->server_link.count, 1);
    if (last > first && !(p->column_ns && !view->overview_map.by_time)) {
        span = MIN(span, last - first);
        p->overview_from = CLAMP(p->overview_from, first, last - span);
    }
    p->overview_to = p->overview_from + span;
}

void overview_enter(struct view *view)
{
    struct view_state *p = &view->viewport.place;
    uint64_t first, last;
    int64_t from_ns, to_ns;
    viewport_positions(&view->viewport, &first, &last);
    viewport_times(&view->viewport, &from_ns, &to_ns);
    if (p->follow || p->anchor == ANCHOR_END)
        place_leave_end(p);
    p->overview = true;
    p->overview_from = p->column_ns ? (double)from_ns : (double)first;
    p->overview_to = p->column_ns ? (double)to_ns : (double)last + 1;
    clamp_range(view, p->overview_to - p->overview_from);
    overview_request(view);
    notifier_emit(&view->notifier, NOTIFY_ACTIONS);
}

static double overview_position_at(const struct view *view, double x_px)
{
    const struct view_state *p = &view->viewport.place;
    double share = (x_px - viewport_names_px(&view->viewport)) / overview_width_px(view);
    return p->overview_from + CLAMP(share, 0, 1) * (p->overview_to - p->overview_from);
}

uint64_t overview_position(const struct view *view, double x_px)
{
    double at = overview_position_at(view, x_px);
    return at > 0 ? (uint64_t)at : 0;
}

void overview_zoom_into_marks(struct view *view, double x_px)
{
    struct view_state *p = &view->viewport.place;
    double at = overview_position_at(view, x_px);
    history_mark(&view->history, "position");
    p->zoom = MAX(p->zoom, VIEWPORT_MIN_ZOOM);
    if (p->column_ns) {
        scroll_anchor_set_time(&view->viewport, (int64_t)at);
    } else {
        scroll_anchor_set_position(&view->viewport, at > 0 ? (uint64_t)at : 0);
        view->viewport.anchor.x_px = x_px;
    }
    notifier_emit(&view->notifier, NOTIFY_PLACE);
    notifier_emit(&view->notifier, NOTIFY_ACTIONS);
}

/* Returns the span, in events or ns, below which zooming in shows marks. */
static double overview_min_span(const struct view *view)
{
    double columns = overview_width_px(view) / VIEWPORT_MIN_ZOOM / SCENE_COLUMN_PT;
    const struct view_state *p = &view->viewport.place;
    return p->column_ns ? columns * (double)p->column_ns : MAX(LEAST_EVENTS, columns);
}

void overview_zoom(struct view *view, double factor, double x_px)
{
    struct view_state *p = &view->viewport.place;
    double share =
        CLAMP((x_px - viewport_names_px(&view->viewport)) / overview_width_px(view), 0, 1);
    double at = overview_position_at(view, x_px),
           span = (p->overview_to - p->overview_from) / factor;
    if (factor > 1 && span < overview_min_span(view)) {
        p->zoom = VIEWPORT_MIN_ZOOM;
        overview_zoom_into_marks(view, x_px);
        return;
    }
    p->overview_from = at - share * MAX(span, 1);
    clamp_range(view, MAX(span, 1));
    overview_request(view);
}

void overview_pan(struct view *view, double x_px)
{
    struct view_state *p = &view->viewport.place;
    double span = p->overview_to - p->overview_from;
    history_mark(&view->history, "scroll");
    p->overview_from += x_px / overview_width_px(view) * span;
    clamp_range(view, span);
    overview_request(view);
}
