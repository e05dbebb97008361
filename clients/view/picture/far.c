#include "clients/view/picture/far.h"

#include "clients/source/place.h"
#include "clients/view/parts/camera.h"
#include "clients/view/parts/history.h"
#include "clients/view/parts/hold.h"
#include "clients/view/parts/inquiry.h"
#include "clients/view/parts/news.h"
#include "clients/view/picture/bar.h"
#include "clients/view/picture/density.h"
#include "clients/view/picture/rows.h"
#include "clients/view/picture/view.h"
#include "render/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_EVENTS 50.0 /* across the picture, before it is one of marks again */

double far_width_px(const struct view *view)
{
    return MAX(camera_along_px(&view->camera) - camera_names_px(&view->camera), 16);
}

/* ---- asking ---- */

static void count_pinned(struct view *view)
{
    const struct shown_strip *strip = &view->far.strip;
    uint32_t n = 0;
    while (n < strip->row_count && rows_is_pinned(&view->camera.place, strip->rows[n]))
        n++;
    view->stage.pinned = n;
}

static void lines_free(struct far_lines *l)
{
    free(l->lines);
    free(l->joined);
    *l = (struct far_lines){0};
}

static void replace(struct far *far, struct shown_strip *strip)
{
    shown_strip_free(&far->strip);
    lines_free(&far->shown);
    far->strip = *strip;
    far->serial++;
    far->shown.count = far->asked.count;
    far->shown.lines = g_memdup2(far->asked.lines, far->asked.count * sizeof *far->asked.lines);
    far->shown.joined = g_memdup2(far->asked.joined, far->asked.count);
}

void far_clear(struct view *view)
{
    uint64_t serial = view->far.serial + 1;
    shown_strip_free(&view->far.strip);
    lines_free(&view->far.shown);
    lines_free(&view->far.asked);
    view->far = (struct far){.serial = serial};
}

static void note_row(GArray *rows, uint32_t line, guint row)
{
    if (rows->len <= line)
        g_array_set_size(rows, line + 1);
    g_array_index(rows, guint, line) = row;
}

GArray *far_rows_of_lines(const struct view *view)
{
    GArray *rows = g_array_new(FALSE, TRUE, sizeof(guint));
    const struct far_lines *l = &view->far.shown;
    const struct shown_strip *s = &view->far.strip;
    for (uint32_t i = 0; !l->count && i < s->row_count; i++)
        note_row(rows, s->rows[i], i + 1);
    for (uint32_t i = 0, row = 0; i < l->count; i++) {
        if (row < s->row_count && l->lines[i] == s->rows[row])
            row++; /* (a row is told by its first line that there is) */
        if (row)
            note_row(rows, l->lines[i], row);
    }
    return rows;
}

/* "{T:producer… ×3}" where they have several names; numbers of twins are none. */
static char *cluster_label(struct view *view, const uint32_t *lines, uint32_t count)
{
    const char *first = book_label(the_book(view), lines[0]);
    size_t bytes = strcspn(first, "#");
    bool same = true;
    for (uint32_t i = 1; i < count; i++) {
        const char *other = book_label(the_book(view), lines[i]);
        same &= strcspn(other, "#") == bytes && strncmp(first, other, bytes) == 0;
    }
    return g_strdup_printf("{%.*s%s ×%u}", (int)bytes, first, same ? "" : "…", count);
}

char *far_label(struct view *view, uint32_t row)
{
    const struct far_lines *l = &view->far.shown;
    uint32_t line = view->far.strip.rows[row], first = 0, end;
    while (first < l->count && l->lines[first] != line)
        first++;
    for (end = first + 1; end < l->count && l->joined[end];)
        end++;
    return first < l->count && end > first + 1 ? cluster_label(view, l->lines + first, end - first)
                                               : g_strdup(book_label(the_book(view), line));
}

static void take_far(void *user, const struct answer *answer)
{
    struct view *view = user;
    struct place *p = &view->camera.place;
    struct shown_strip strip = {0};
    if (answer->part == PART_STRIP) {
        get_strip(answer->in, &strip);
        if (!in_done(answer->in)) {
            shown_strip_free(&strip);
            return;
        }
        replace(&view->far, &strip);
        view->stage.row_total = strip.row_count;
        count_pinned(view);
        /* (one that was asked for before the axis was changed has its range in other units) */
        bool fits = strip.by_time == (p->column_ns > 0);
        if (fits && p->far_to <= p->far_from && strip.known == strip.count) {
            p->far_from = (double)strip.from;
            p->far_to = (double)strip.to;
        }
        bar_update(view);
        news_tell(&view->news, NEWS_SEEN);
    }
    if (answer->last && inquiry_again(&view->far.counting, answer))
        news_tell(&view->news, NEWS_PLACE);
}

void far_ask(struct view *view)
{
    if (!inquiry_may(&view->link, &view->far.counting))
        return;
    struct window_request rows;
    struct out body = {0};
    if (!density_rows(view, &rows))
        return;
    struct density_request request = {.by_time = view->camera.place.column_ns > 0,
                                      .pixels = (uint32_t)MAX(far_width_px(view), 16),
                                      .from = (int64_t)view->camera.place.far_from,
                                      .to = (int64_t)view->camera.place.far_to,
                                      .rows = rows.rows,
                                      .joined = rows.joined,
                                      .row_count = rows.row_count};
    put_density_request(&body, &request);
    lines_free(&view->far.asked);
    view->far.asked = (struct far_lines){rows.rows, rows.joined, rows.row_count};
    inquiry_ask(&view->link, &view->far.counting, ASK_STRIP, &body, take_far, view);
}

/* ---- moving ---- */

/* Of the whole run, as the map knows it. */
static void clamp_range(struct view *view, double span)
{
    struct place *p = &view->camera.place;
    const struct shown_density *d = &view->map.density;
    double first = p->column_ns ? (double)d->from : 0,
           last = p->column_ns ? (double)d->to : (double)MAX(view->link.count, 1);
    if (last > first && !(p->column_ns && !view->map.by_time)) {
        span = MIN(span, last - first);
        p->far_from = CLAMP(p->far_from, first, last - span);
    }
    p->far_to = p->far_from + span;
}

void far_enter(struct view *view)
{
    struct place *p = &view->camera.place;
    uint64_t first, last;
    int64_t from_ns, to_ns;
    camera_positions(&view->camera, &first, &last);
    camera_times(&view->camera, &from_ns, &to_ns);
    if (p->follow || p->anchor == ANCHOR_END)
        place_leave_end(p);
    p->far = true;
    p->far_from = p->column_ns ? (double)from_ns : (double)first;
    p->far_to = p->column_ns ? (double)to_ns : (double)last + 1;
    clamp_range(view, p->far_to - p->far_from);
    far_ask(view);
    news_tell(&view->news, NEWS_SWITCHES);
}

static double far_at(const struct view *view, double x_px)
{
    const struct place *p = &view->camera.place;
    double share = (x_px - camera_names_px(&view->camera)) / far_width_px(view);
    return p->far_from + CLAMP(share, 0, 1) * (p->far_to - p->far_from);
}

uint64_t far_position(const struct view *view, double x_px)
{
    double at = far_at(view, x_px);
    return at > 0 ? (uint64_t)at : 0;
}

void far_go_in(struct view *view, double x_px)
{
    struct place *p = &view->camera.place;
    double at = far_at(view, x_px);
    history_mark(&view->history, "position");
    p->zoom = MAX(p->zoom, CAMERA_ZOOM_LEAST);
    if (p->column_ns) {
        hold_time(&view->camera, (int64_t)at);
    } else {
        hold_position(&view->camera, at > 0 ? (uint64_t)at : 0);
        view->camera.hold.x_px = x_px;
    }
    news_tell(&view->news, NEWS_PLACE);
    news_tell(&view->news, NEWS_SWITCHES);
}

/* How much there is on a picture of marks, of the smallest ones: so many events, or ns. */
static double least_span(const struct view *view)
{
    double columns = far_width_px(view) / CAMERA_ZOOM_LEAST / SCENE_COLUMN_PT;
    const struct place *p = &view->camera.place;
    return p->column_ns ? columns * (double)p->column_ns : MAX(LEAST_EVENTS, columns);
}

void far_zoom(struct view *view, double factor, double x_px)
{
    struct place *p = &view->camera.place;
    double share = CLAMP((x_px - camera_names_px(&view->camera)) / far_width_px(view), 0, 1);
    double at = far_at(view, x_px), span = (p->far_to - p->far_from) / factor;
    if (factor > 1 && span < least_span(view)) {
        p->zoom = CAMERA_ZOOM_LEAST;
        far_go_in(view, x_px);
        return;
    }
    p->far_from = at - share * MAX(span, 1);
    clamp_range(view, MAX(span, 1));
    far_ask(view);
}

void far_pan(struct view *view, double x_px)
{
    struct place *p = &view->camera.place;
    double span = p->far_to - p->far_from;
    history_mark(&view->history, "scroll");
    p->far_from += x_px / far_width_px(view) * span;
    clamp_range(view, span);
    far_ask(view);
}
