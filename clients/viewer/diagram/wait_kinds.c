#include "clients/viewer/diagram/wait_kinds.h"

#include "clients/viewer/state/viewport.h"
#include "clients/viewer/state/viewer_settings.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/measured_states.h"
#include "clients/viewer/diagram/state_bands_view.h"
#include "clients/viewer/diagram/wait_coloring.h"
#include "clients/viewer/diagram/viewer.h"

#include <math.h>
#include <string.h>

/* States by wait class (wait_coloring.h). */
static const uint8_t states[WAIT_COLORING_CLASSES] = {BAND_LIVING_MEETING, BAND_LIVING_EXCLUSION,
                                                      BAND_LIVING_TIMER, BAND_LIVING_UNKNOWN};

/* Shares of a pixel of a row, of 255: of each wait class, and of the other states below them. */
struct wait_kind_shares {
    uint8_t below, share[WAIT_COLORING_CLASSES];
};

static struct wait_kind_shares wait_kinds_shares_at(const struct state_bands *seen,
                                                    const struct state_bands *lives, uint32_t row,
                                                    uint32_t pixel)
{
    struct wait_kind_shares f = {0};
    int at = measured_states_find_pixel(lives, seen, pixel);
    const struct state_band_cell *cell = &seen->cells[(size_t)row * seen->pixels + pixel];
    if (at < 0)
        return f;
    const uint8_t *share = lives->cells[(size_t)row * lives->pixels + (size_t)at].share;
    unsigned below = cell->share[BAND_RUNS] + cell->share[BAND_INSIDE], all = 0;
    for (unsigned i = 0; i < WAIT_COLORING_CLASSES; i++)
        all += f.share[i] = share[states[i]];
    f.below =
        (uint8_t)MIN(below, 255 - MIN(all, 255)); /* due to rounding, the sum may exceed 255 */
    return f;
}

/* ---- drawing ---- */

/* Adds the part of a class to the path, one box for adjacent equal pixels. */
static void add_class(const struct wait_kind_shares *filled, uint32_t pixels, unsigned class,
                      cairo_t *cr, cairo_rectangle_t box)
{
    double wide = box.width / pixels;
    for (uint32_t i = 0, end; i < pixels; i = end) {
        double below = filled[i].below, high = box.height * filled[i].share[class] / 255;
        for (end = i + 1; end < pixels && memcmp(&filled[end], &filled[i], sizeof *filled) == 0;)
            end++;
        for (unsigned k = 0; k < class; k++)
            below += filled[i].share[k];
        double x = round(box.x + i * wide);
        if (filled[i].share[class])
            cairo_rectangle(cr, x, box.y + box.height * (1 - below / 255) - high,
                            round(box.x + end * wide) - x, high);
    }
}

static void paint_row(struct view *view, cairo_t *cr, const struct state_bands *lives, uint32_t row)
{
    const struct state_bands *s = &view->overview.strip;
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    struct wait_kind_shares *filled = g_new(struct wait_kind_shares, s->pixels);
    for (uint32_t i = 0; i < s->pixels; i++)
        filled[i] = wait_kinds_shares_at(s, lives, row, i);
    for (unsigned class = 0; class < WAIT_COLORING_CLASSES; class ++) {
        add_class(filled, s->pixels, class, cr, bands_view_row_box(view, row));
        wait_coloring_fill_class(cr, class, &theme);
    }
    g_free(filled);
}

void wait_kinds_draw(struct view *view, cairo_t *cr, int height)
{
    const struct state_bands *lives = view->viewer_settings.tints ? measured_states_of(view) : NULL;
    if (!lives)
        return;
    cairo_save(cr);
    cairo_rectangle(cr, 0, BANDS_VIEW_RULER_PX, viewport_along_px(&view->viewport),
                    bands_view_bottom_px(view, height) - BANDS_VIEW_RULER_PX);
    cairo_clip(cr);
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_NONE);
    for (uint32_t row = 0; row < lives->row_count; row++)
        if (bands_view_is_visible(view, row, height))
            paint_row(view, cr, lives, row);
    cairo_restore(cr);
}

/* ---- text ---- */

char *wait_kinds_describe(struct view *view, uint32_t row, double share)
{
    const struct state_bands *lives = view->viewer_settings.tints ? measured_states_of(view) : NULL;
    const struct state_bands *s = &view->overview.strip;
    int at = lives ? measured_states_find_pixel(lives, s, (uint32_t)(share * s->pixels)) : -1;
    GString *text = g_string_new(NULL);
    for (unsigned i = 0; at >= 0 && i < WAIT_COLORING_CLASSES; i++) {
        const struct state_band_cell *cell =
            &lives->cells[(size_t)row * lives->pixels + (size_t)at];
        double percent = 100 * cell->share[states[i]] / 255.0;
        if (percent >= 0.5)
            g_string_append_printf(text, "%s%s %.0f %%", text->len ? ", " : "",
                                   wait_coloring_class_name(i), percent);
    }
    return g_string_free(text, text->len == 0);
}

void wait_kinds_print(struct view *view, FILE *f)
{
    const struct state_bands *lives = view->viewer_settings.tints ? measured_states_of(view) : NULL;
    for (uint32_t row = 0; lives && row < lives->row_count; row++) {
        const struct state_band_cell *cells = lives->cells + (size_t)row * lives->pixels;
        if (!measured_states_has_row(lives, row))
            continue;
        fprintf(f, "kinds %u", row);
        for (unsigned i = 0; i < WAIT_COLORING_CLASSES; i++) {
            double sum = 0;
            for (uint32_t p = 0; p < lives->pixels; p++)
                sum += cells[p].share[states[i]] / 255.0 / lives->pixels;
            fprintf(f, " %s %.4f", wait_coloring_class_name(i), sum);
        }
        fprintf(f, "\n");
    }
}
