#include "clients/viewer/diagram/idle_end.h"

#include "clients/metadata/event_text.h"
#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/diagram/state_bands_view.h"
#include "clients/viewer/diagram/viewer.h"
#include "clients/viewer/state/viewport.h"
#include "render/scene_paint.h"
#include "render/text_cache.h"

#include <math.h>
#include <string.h>

#define IDLE_SHARE_LEAST 0.5 /* of the view; a shorter idle end is shown */
#define IDLE_SHOWN 0.25 /* of the time before it: how much of it is shown then */

void idle_end_begin(struct view *view)
{
    view->overview.idle = (struct idle_end){.rounds = IDLE_END_ROUNDS};
}

void idle_end_stop(struct view *view) { view->overview.idle.rounds = 0; }

/* Returns whether the row's thread does not run in the last pixel; objects do not matter. */
static bool idle_end_is_idle(struct view *view, uint32_t row)
{
    const struct state_bands *s = &view->overview.strip;
    const struct state_band_cell *last = &s->cells[(size_t)(row + 1) * s->pixels - 1];
    return !metadata_line_is_thread(view_metadata(view), s->rows[row]) ||
           (!last->share[BAND_RUNS] && !last->share[BAND_INSIDE]);
}

/* Returns the pixel from which on the row is as in its last pixel. */
static uint32_t idle_end_row_begin(const struct state_bands *s, uint32_t row)
{
    const struct state_band_cell *cells = s->cells + (size_t)row * s->pixels;
    uint32_t at = s->pixels - 1;
    while (at > 0 && memcmp(cells[at - 1].share, cells[at].share, sizeof cells->share) == 0)
        at--;
    return at;
}

/* Returns the pixel at which the idle end begins; the number of pixels if there is none. */
static uint32_t idle_end_begin_pixel(struct view *view)
{
    const struct state_bands *s = &view->overview.strip;
    uint32_t begin = 0;
    for (uint32_t row = 0; row < s->row_count; row++) {
        if (!idle_end_is_idle(view, row))
            return s->pixels;
        uint32_t at = idle_end_row_begin(s, row);
        begin = MAX(begin, at);
    }
    return begin;
}

bool idle_end_shorten(struct view *view)
{
    struct view_state *p = &view->viewport.place;
    const struct state_bands *s = &view->overview.strip;
    struct idle_end *idle = &view->overview.idle;
    if (!idle->rounds || !p->overview || !s->by_time || !s->row_count || s->known < s->count ||
        s->from != (int64_t)p->overview_from || s->to != (int64_t)p->overview_to)
        return false;
    idle->rounds--;
    uint32_t begin = idle_end_begin_pixel(view);
    if (begin >= s->pixels * (1 - IDLE_SHARE_LEAST)) {
        idle->rounds = 0;
        return false;
    }
    double span = (double)(s->to - s->from) / s->pixels, before = span * MAX(begin, 1);
    if (!idle->to_ns)
        idle->to_ns = s->to;
    idle->from_ns = s->from + (int64_t)ceil(before);
    p->overview_to = (double)s->from + ceil(before * (1 + IDLE_SHOWN));
    return true;
}

/* ---- drawing ---- */

#define TEETH_PX 5.0
#define LABEL_PT 8.5

/* Returns whether the bands end within the idle end. */
static bool idle_end_is_cut(const struct view *view)
{
    const struct state_bands *s = &view->overview.strip;
    const struct idle_end *idle = &view->overview.idle;
    return idle->to_ns && s->by_time && s->to < idle->to_ns && s->to >= idle->from_ns;
}

/* Returns "no events for 4.00 s, until the end (4.02 s)"; the caller frees it. */
static char *idle_end_text(const struct view *view)
{
    const struct idle_end *idle = &view->overview.idle;
    char length[40], end[40];
    duration_text(length, sizeof length, idle->to_ns - idle->from_ns);
    duration_text(end, sizeof end, idle->to_ns);
    return g_strdup_printf("no events for %s, until the end (%s) ▸", length, end);
}

/* Cuts the bands with a jagged edge. */
static void idle_end_draw_edge(struct view *view, cairo_t *cr, double x, double bottom)
{
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    double ground = painter_brightness(theme.dark), y = BANDS_VIEW_RULER_PX;
    cairo_move_to(cr, x + TEETH_PX * 2, y);
    for (int i = 0; y < bottom; y += TEETH_PX, i++)
        cairo_line_to(cr, x - (i % 2 ? TEETH_PX : 0), y);
    cairo_line_to(cr, x - TEETH_PX, bottom);
    cairo_line_to(cr, x + TEETH_PX * 2, bottom);
    cairo_close_path(cr);
    cairo_set_source_rgb(cr, ground, ground, ground);
    cairo_fill(cr);
}

void idle_end_draw(struct view *view, cairo_t *cr, double end_px, double bottom_px)
{
    if (!idle_end_is_cut(view))
        return;
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    double ink = theme.dark ? 0.95 : 0.1, ground = painter_brightness(theme.dark);
    char *text = idle_end_text(view);
    double width = text_cache_width(NULL, text, LABEL_PT, true);
    idle_end_draw_edge(view, cr, end_px, bottom_px);
    cairo_set_source_rgb(cr, ground, ground, ground);
    cairo_rectangle(cr, end_px - width - 10, 1, width + 10, BANDS_VIEW_RULER_PX - 2);
    cairo_fill(cr);
    cairo_set_source_rgb(cr, ink, ink, ink);
    text_cache_show(cr, end_px - width - 4, 3, text, LABEL_PT, true);
    g_free(text);
}

void idle_end_print(struct view *view, FILE *f)
{
    const struct idle_end *idle = &view->overview.idle;
    if (idle_end_is_cut(view))
        fprintf(f, "idle end %lld to %lld\n", (long long)idle->from_ns, (long long)idle->to_ns);
}
