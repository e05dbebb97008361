#include "clients/view/picture/far.h"

#include "clients/source/place.h"
#include "clients/view/parts/camera.h"
#include "clients/view/parts/history.h"
#include "clients/view/parts/hold.h"
#include "clients/view/parts/inquiry.h"
#include "clients/view/parts/news.h"
#include "clients/view/parts/settings.h"
#include "clients/view/picture/bar.h"
#include "clients/view/picture/density.h"
#include "clients/view/picture/view.h"
#include "render/lettering.h"
#include "render/paint.h"
#include "render/scene.h"
#include "wire/placed.h"

#include <math.h>

#define LEAST_EVENTS 50.0 /* across the picture, before it is one of marks again */

double far_width_px(const struct view *view)
{
    return MAX(camera_along_px(&view->camera) - camera_names_px(&view->camera), 16);
}

/* ---- painting ---- */

/* Where only blocked threads were in the line, for as long as a pixel or more. */
static void paint_blocked(cairo_t *cr, const struct view *view, uint32_t row, double x, double y)
{
    const struct shown_density *d = &view->far.density;
    int64_t least = view->settings.look.threshold_ns ? view->settings.look.threshold_ns : 1;
    cairo_set_source_rgb(cr, 0.9, 0.62, 0);
    for (uint32_t i = 0; i < d->pixels; i++)
        if (d->blocked_ns[(size_t)row * d->pixels + i] >= (uint64_t)least)
            cairo_rectangle(cr, x + i, y, 1, 3);
    cairo_fill(cr);
}

static void paint_ticks(struct view *view, cairo_t *cr, double names, double height)
{
    const struct finder *f = &view->finder;
    const struct shown_density *d = &view->far.density;
    if (view->camera.place.column_ns)
        return; /* hits are known by position only */
    cairo_set_source_rgba(cr, 0.6, 0.2, 0.6, 0.5);
    for (uint32_t i = 0; i < f->hit_count && i < 5000; i++) {
        double share = density_share(d, (double)f->positions[i]);
        if (share >= 0 && share < 1)
            cairo_rectangle(cr, names + floor(share * far_width_px(view)), 0, 1, height);
    }
    cairo_fill(cr);
}

void far_draw(struct view *view, cairo_t *cr, int height)
{
    const struct shown_density *d = &view->far.density;
    struct paint_theme theme = settings_theme(&view->settings);
    double names = camera_names_px(&view->camera), high = SCENE_ROW_PT;
    double rise = view->camera.place.rise_pt;
    for (uint32_t i = 0; i < d->row_count; i++) {
        double y = 8 + i * high - rise;
        if (y + high < 0 || y > height)
            continue;
        struct target_colour c = density_colour(the_book(view), d->rows[i]);
        density_paint(cr, d, i, c, theme.dark, names, y + 4, far_width_px(view), high - 10);
        paint_blocked(cr, view, i, names, y + high - 5);
        double v = theme.dark ? 0.85 : 0.15;
        cairo_set_source_rgb(cr, v, v, v);
        cairo_save(cr);
        cairo_rectangle(cr, 0, y, names - 4, high);
        cairo_clip(cr);
        lettering_show(cr, 8, y + 6, book_label(the_book(view), d->rows[i]), 10, false);
        cairo_restore(cr);
    }
    paint_ticks(view, cr, names, height);
}

/* ---- asking ---- */

static void take_far(void *user, const struct answer *answer)
{
    struct view *view = user;
    struct place *p = &view->camera.place;
    struct shown_density density;
    if (density_read(answer, &density)) {
        shown_density_free(&view->far.density);
        view->far.density = density;
        view->stage.row_total = density.row_count;
        if (p->far_to <= p->far_from) {
            p->far_from = (double)density.from;
            p->far_to = (double)density.to;
        }
        bar_update(view);
        news_tell(&view->news, NEWS_SEEN);
    }
    if (inquiry_again(&view->far.counting, answer))
        news_tell(&view->news, NEWS_PLACE);
}

void far_ask(struct view *view)
{
    if (!inquiry_may(&view->link, &view->far.counting))
        return;
    double width = camera_along_px(&view->camera) - camera_names_px(&view->camera);
    struct window_request rows;
    if (!density_rows(view, &rows))
        return;
    struct density_request request = {.pixels = (uint32_t)MAX(width, 16),
                                      .from = (int64_t)view->camera.place.far_from,
                                      .to = (int64_t)view->camera.place.far_to};
    request.blocked = request.to - request.from < 2000000;
    density_ask(view, &view->far.counting, &request, &rows, take_far);
}

/* ---- moving ---- */

void far_enter(struct view *view)
{
    struct place *p = &view->camera.place;
    uint64_t first, last;
    camera_positions(&view->camera, &first, &last);
    p->follow = false;
    if (p->anchor == ANCHOR_END)
        p->anchor = ANCHOR_POSITION;
    p->far = true;
    p->far_from = (double)first;
    p->far_to = (double)last + 1;
    if (p->column_ns)
        p->far_from = p->far_to = 0;
    far_ask(view);
    news_tell(&view->news, NEWS_SWITCHES);
}

uint64_t far_position(const struct view *view, double x_px)
{
    const struct place *p = &view->camera.place;
    double share = (x_px - camera_names_px(&view->camera)) / far_width_px(view);
    double at = p->far_from + CLAMP(share, 0, 1) * (p->far_to - p->far_from);
    return at > 0 ? (uint64_t)at : 0;
}

static void go_near(struct view *view, double x_px)
{
    struct place *p = &view->camera.place;
    uint64_t position = far_position(view, x_px);
    p->zoom = CAMERA_ZOOM_LEAST;
    history_mark(&view->history, "position");
    hold_position(&view->camera, position);
    view->camera.hold.x_px = x_px;
    news_tell(&view->news, NEWS_PLACE);
    news_tell(&view->news, NEWS_SWITCHES);
}

void far_zoom(struct view *view, double factor, double x_px)
{
    struct place *p = &view->camera.place;
    double share = CLAMP((x_px - camera_names_px(&view->camera)) / far_width_px(view), 0, 1);
    double at = p->far_from + share * (p->far_to - p->far_from),
           span = (p->far_to - p->far_from) / factor;
    double marks = MAX(LEAST_EVENTS, far_width_px(view) / CAMERA_ZOOM_LEAST / SCENE_COLUMN_PT);
    if (!p->column_ns && factor > 1 && span < marks) {
        go_near(view, x_px);
        return;
    }
    span = MAX(span, 1);
    p->far_from = MAX(at - share * span, p->column_ns ? -1e18 : 0);
    p->far_to = p->far_from + span;
    if (!p->column_ns && p->far_to > (double)view->link.count)
        p->far_to = (double)MAX(view->link.count, 1);
    far_ask(view);
}

void far_pan(struct view *view, double x_px)
{
    struct place *p = &view->camera.place;
    double span = p->far_to - p->far_from, by = x_px / far_width_px(view) * span;
    history_mark(&view->history, "scroll");
    if (!p->column_ns)
        by = CLAMP(by, -p->far_from, MAX(0, (double)view->link.count - p->far_to));
    p->far_from += by;
    p->far_to += by;
    far_ask(view);
}
