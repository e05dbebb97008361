#include "clients/view/picture/bands.h"

#include "clients/book/book.h"
#include "clients/view/parts/camera.h"
#include "clients/view/parts/settings.h"
#include "clients/view/picture/density.h"
#include "clients/view/picture/far.h"
#include "clients/view/picture/view.h"
#include "render/lettering.h"
#include "render/paint.h"
#include "render/timed.h"

#include <math.h>

#define TICK_PX 90.0 /* ticks of the ruler are at least so far apart */

static const char *const words[STRIP_CLASSES] = {
#define S(NAME, text) text,
    STRIP_STATES(S)
#undef S
};

/* ---- colours ---- */

/* Told apart by brightness, too: what waits is light, what is in something dark. */
static struct target_colour colour_of(struct view *view, uint32_t line, unsigned class, bool dark)
{
    static const struct target_colour inside = {0.54, 0.29, 0.03}, inside_dark = {0.8, 0.5, 0.2},
                                      waits = {0.95, 0.7, 0.2}, ended = {0.7, 0.7, 0.7};
    switch (class) {
    case STRIP_RUNS:
        return line ? density_colour(the_book(view), line) : (struct target_colour){0.1, 0.3, 0.6};
    case STRIP_INSIDE:
        return dark ? inside_dark : inside;
    case STRIP_WAITS:
        return waits;
    default:
        return ended;
    }
}

static void set_colour(cairo_t *cr, struct target_colour c)
{
    cairo_set_source_rgb(cr, c.red, c.green, c.blue);
}

/* ---- rows ---- */

static double row_y(const struct view *view, uint32_t row)
{
    return BANDS_RULER_PX + 4 + row * SCENE_ROW_PT - view->camera.place.rise_pt;
}

/* One class of one row: from pixel to pixel a piece, above those of the classes before it. */
static void paint_class(cairo_t *cr, const struct shown_strip *s, uint32_t row, unsigned class,
                        cairo_rectangle_t box)
{
    const struct strip_cell *cells = s->cells + (size_t)row * s->pixels;
    double wide = box.width / s->pixels;
    for (uint32_t i = 0; i < s->pixels; i++) {
        double below = 0, share = cells[i].share[class];
        for (unsigned k = 0; k < class; k++)
            below += cells[i].share[k];
        double x = round(box.x + i * wide), end = round(box.x + (i + 1) * wide);
        if (share > 0)
            cairo_rectangle(cr, x, box.y + box.height * (1 - (below + share) / 255), end - x,
                            box.height * share / 255);
    }
    cairo_fill(cr);
}

static void paint_row(struct view *view, cairo_t *cr, uint32_t row, bool dark)
{
    const struct shown_strip *s = &view->far.strip;
    double names = camera_names_px(&view->camera), y = row_y(view, row), v = dark ? 0.85 : 0.15;
    cairo_rectangle_t box = {names, y + 3, far_width_px(view), SCENE_ROW_PT - 8};
    cairo_set_source_rgba(cr, 0.5, 0.5, 0.5, 0.4);
    cairo_rectangle(cr, box.x, box.y + box.height, box.width, 1);
    cairo_fill(cr);
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_NONE);
    for (unsigned class = 0; class < STRIP_CLASSES; class ++) {
        set_colour(cr, colour_of(view, s->rows[row], class, dark));
        paint_class(cr, s, row, class, box);
    }
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_DEFAULT);
    cairo_set_source_rgb(cr, v, v, v);
    cairo_save(cr);
    cairo_rectangle(cr, 0, y, names - 4, SCENE_ROW_PT);
    cairo_clip(cr);
    lettering_show(cr, 8, y + 6, book_label(the_book(view), s->rows[row]), 10, false);
    cairo_restore(cr);
}

/* ---- the ruler ---- */

struct tick {
    double share; /* of the width */
    char text[40];
};

static void name_tick(const struct shown_strip *s, int64_t at, int64_t step, struct tick *tick)
{
    tick->share = (double)(at - s->from) / (double)(s->to - s->from);
    if (s->by_time)
        timed_print(at, step, tick->text, sizeof tick->text);
    else
        g_snprintf(tick->text, sizeof tick->text, "%'lld%s", (long long)at,
                   at == s->from ? " events" : "");
}

/* At round times, or numbers of events, that are at least so far apart; NULL: there is none.  The caller's. */
static struct tick *make_ticks(struct view *view, uint32_t *count)
{
    const struct shown_strip *s = &view->far.strip;
    double width = far_width_px(view);
    *count = 0;
    if (s->to <= s->from || width < TICK_PX)
        return NULL;
    int64_t step = timed_round((int64_t)((double)(s->to - s->from) * TICK_PX / width) + 1);
    int64_t at = s->from - s->from % step;
    struct tick *ticks = g_new0(struct tick, (gsize)(width / TICK_PX) + 3);
    for (at = at < s->from ? at + step : at; at < s->to && *count < width / TICK_PX + 2; at += step)
        name_tick(s, at, step, &ticks[(*count)++]);
    return ticks;
}

static void paint_ruler(struct view *view, cairo_t *cr, bool dark)
{
    uint32_t count;
    struct tick *ticks = make_ticks(view, &count);
    double names = camera_names_px(&view->camera), v = dark ? 0.7 : 0.35;
    cairo_set_source_rgb(cr, v, v, v);
    if (!view->far.strip.by_time)
        lettering_show(cr, 8, 3, "events", 8, false);
    for (uint32_t i = 0; i < count; i++) {
        double x = names + ticks[i].share * far_width_px(view);
        cairo_rectangle(cr, floor(x), 2, 1, BANDS_RULER_PX - 3);
        cairo_fill(cr);
        lettering_show(cr, x + 4, 3, ticks[i].text, 8, false);
    }
    g_free(ticks);
}

/* ---- the key, and how far the run is known ---- */

static void paint_key(struct view *view, cairo_t *cr, int height, bool dark)
{
    double x = camera_names_px(&view->camera), y = height - 18, v = dark ? 0.85 : 0.2;
    double ground = paint_brightness(dark);
    cairo_set_source_rgb(cr, ground, ground, ground);
    cairo_rectangle(cr, 0, y - 4, camera_along_px(&view->camera), 22);
    cairo_fill(cr);
    for (unsigned class = 0; class < STRIP_CLASSES; class ++) {
        set_colour(cr, colour_of(view, 0, class, dark));
        cairo_rectangle(cr, x, y, 12, 10);
        cairo_fill(cr);
        cairo_set_source_rgb(cr, v, v, v);
        const char *text = class == STRIP_INSIDE ? "is in a monitor" : words[class];
        lettering_show(cr, x + 17, y - 1, text, 9, false);
        x += 17 + lettering_width(NULL, text, 9, false) + 18;
    }
}

static void paint_unknown(struct view *view, cairo_t *cr, int height)
{
    const struct shown_strip *s = &view->far.strip;
    if (s->known >= s->count || !s->count)
        return;
    char *text =
        g_strdup_printf("Looking at the run: %.0f %%", 100.0 * (double)s->known / (double)s->count);
    cairo_set_source_rgb(cr, 0.6, 0.2, 0.6);
    lettering_show(cr, 8, height - 19, text, 9, false);
    g_free(text);
}

/* Hits of the finder. */
static void paint_hits(struct view *view, cairo_t *cr, double height)
{
    const struct finder *f = &view->finder;
    const struct shown_strip *s = &view->far.strip;
    double names = camera_names_px(&view->camera), span = (double)s->to - (double)s->from;
    if (s->by_time || span <= 0)
        return; /* hits are known by position only */
    cairo_set_source_rgba(cr, 0.6, 0.2, 0.6, 0.5);
    for (uint32_t i = 0; i < f->hit_count && i < 5000; i++) {
        double share = ((double)f->positions[i] - (double)s->from) / span;
        if (share >= 0 && share < 1)
            cairo_rectangle(cr, names + floor(share * far_width_px(view)), 0, 1, height);
    }
    cairo_fill(cr);
}

void bands_draw(struct view *view, cairo_t *cr, int height)
{
    const struct shown_strip *s = &view->far.strip;
    struct paint_theme theme = settings_theme(&view->settings);
    cairo_save(cr);
    cairo_rectangle(cr, 0, BANDS_RULER_PX, camera_along_px(&view->camera), height);
    cairo_clip(cr);
    for (uint32_t i = 0; i < s->row_count; i++)
        if (row_y(view, i) + SCENE_ROW_PT > 0 && row_y(view, i) < height)
            paint_row(view, cr, i, theme.dark);
    cairo_restore(cr);
    if (!s->row_count)
        return;
    paint_ruler(view, cr, theme.dark);
    paint_key(view, cr, height, theme.dark);
    paint_unknown(view, cr, height);
    paint_hits(view, cr, height);
}

/* ---- in words ---- */

static void say_shares(struct view *view, GString *text, const double *shares, uint32_t about)
{
    bool any = false;
    for (unsigned class = 0; class < STRIP_CLASSES; class ++) {
        double percent = 100 * shares[class];
        if (percent < 0.5)
            continue;
        g_string_append_printf(text, "%s%s", any ? ", " : " ", words[class]);
        if (class == STRIP_INSIDE)
            g_string_append_printf(text, " %s", about ? book_label(the_book(view), about) : "use");
        g_string_append_printf(text, " %.0f %%", percent);
        any = true;
    }
    if (!any)
        g_string_append(text, " is not there");
}

char *bands_say(struct view *view, double x_px, double y_px)
{
    const struct shown_strip *s = &view->far.strip;
    double at = (x_px - camera_names_px(&view->camera)) / far_width_px(view) * s->pixels;
    double row = floor((y_px - row_y(view, 0)) / SCENE_ROW_PT), shares[STRIP_CLASSES];
    if (!s->row_count || at < 0 || at >= s->pixels || row < 0 || row >= s->row_count ||
        y_px < BANDS_RULER_PX)
        return NULL;
    const struct strip_cell *cell = &s->cells[(size_t)row * s->pixels + (size_t)at];
    for (unsigned k = 0; k < STRIP_CLASSES; k++)
        shares[k] = cell->share[k] / 255.0;
    GString *text = g_string_new(book_label(the_book(view), s->rows[(uint32_t)row]));
    g_string_append_c(text, ':');
    say_shares(view, text, shares, cell->about);
    if (cell->share[STRIP_WAITS] && cell->about)
        g_string_append_printf(text, "\nmostly about %s", book_label(the_book(view), cell->about));
    g_string_append(text, "\nClick to go there");
    return g_string_free(text, FALSE);
}

void bands_print(struct view *view, FILE *f)
{
    const struct shown_strip *s = &view->far.strip;
    uint32_t count;
    struct tick *ticks = make_ticks(view, &count);
    fprintf(f, "bands by %s, %lld to %lld, %u rows\n", s->by_time ? "time" : "order",
            (long long)s->from, (long long)s->to, s->row_count);
    for (uint32_t i = 0; i < count; i++)
        fprintf(f, "tick %.4f %s\n", ticks[i].share, ticks[i].text);
    for (uint32_t row = 0; row < s->row_count; row++) {
        double shares[STRIP_CLASSES] = {0};
        for (size_t i = 0; i < s->pixels; i++)
            for (unsigned k = 0; k < STRIP_CLASSES; k++)
                shares[k] += s->cells[row * (size_t)s->pixels + i].share[k] / 255.0 / s->pixels;
        fprintf(f, "row %u", s->rows[row]);
        for (unsigned k = 0; k < STRIP_CLASSES; k++)
            fprintf(f, " %.3f", shares[k]);
        fprintf(f, " %s\n", book_label(the_book(view), s->rows[row]));
    }
    g_free(ticks);
}
