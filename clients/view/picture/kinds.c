#include "clients/view/picture/kinds.h"

#include "clients/view/parts/camera.h"
#include "clients/view/parts/settings.h"
#include "clients/view/picture/far.h"
#include "clients/view/picture/lives.h"
#include "clients/view/picture/strips.h"
#include "clients/view/picture/tint.h"
#include "clients/view/picture/view.h"

#include <math.h>
#include <string.h>

/* By class of tint.h. */
static const uint8_t states[TINT_CLASSES] = {STRIP_LIVING_MEETING, STRIP_LIVING_EXCLUSION,
                                             STRIP_LIVING_TIMER, STRIP_LIVING_UNKNOWN};

/* What a pixel of a row is filled by: below it is what does not wait. */
struct filled {
    uint8_t below, share[TINT_CLASSES];
};

static struct filled filled_at(const struct shown_strip *seen, const struct shown_strip *lives,
                               uint32_t row, uint32_t pixel)
{
    struct filled f = {0};
    int at = lives_pixel(lives, seen, pixel);
    const struct strip_cell *cell = &seen->cells[(size_t)row * seen->pixels + pixel];
    if (at < 0)
        return f;
    const uint8_t *share = lives->cells[(size_t)row * lives->pixels + (size_t)at].share;
    unsigned below = cell->share[STRIP_RUNS] + cell->share[STRIP_INSIDE], all = 0;
    for (unsigned i = 0; i < TINT_CLASSES; i++)
        all += f.share[i] = share[states[i]];
    f.below = (uint8_t)MIN(below, 255 - MIN(all, 255)); /* rounded, they may be more than all */
    return f;
}

/* ---- drawing ---- */

/* Pixels that are alike are one box. */
static void add_class(const struct filled *filled, uint32_t pixels, unsigned class, cairo_t *cr,
                      cairo_rectangle_t box)
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

static void paint_row(struct view *view, cairo_t *cr, const struct shown_strip *lives, uint32_t row)
{
    const struct shown_strip *s = &view->far.strip;
    struct paint_theme theme = settings_theme(&view->settings);
    struct filled *filled = g_new(struct filled, s->pixels);
    for (uint32_t i = 0; i < s->pixels; i++)
        filled[i] = filled_at(s, lives, row, i);
    for (unsigned class = 0; class < TINT_CLASSES; class ++) {
        add_class(filled, s->pixels, class, cr, strips_box(view, row));
        tint_fill(cr, class, &theme);
    }
    g_free(filled);
}

void kinds_draw(struct view *view, cairo_t *cr, int height)
{
    const struct shown_strip *lives = view->settings.tints ? lives_of(view) : NULL;
    if (!lives)
        return;
    cairo_save(cr);
    cairo_rectangle(cr, 0, STRIPS_RULER_PX, camera_along_px(&view->camera),
                    strips_bottom_px(view, height) - STRIPS_RULER_PX);
    cairo_clip(cr);
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_NONE);
    for (uint32_t row = 0; row < lives->row_count; row++)
        if (strips_seen(view, row, height))
            paint_row(view, cr, lives, row);
    cairo_restore(cr);
}

/* ---- in words ---- */

char *kinds_say(struct view *view, uint32_t row, double share)
{
    const struct shown_strip *lives = view->settings.tints ? lives_of(view) : NULL;
    const struct shown_strip *s = &view->far.strip;
    int at = lives ? lives_pixel(lives, s, (uint32_t)(share * s->pixels)) : -1;
    GString *text = g_string_new(NULL);
    for (unsigned i = 0; at >= 0 && i < TINT_CLASSES; i++) {
        const struct strip_cell *cell = &lives->cells[(size_t)row * lives->pixels + (size_t)at];
        double percent = 100 * cell->share[states[i]] / 255.0;
        if (percent >= 0.5)
            g_string_append_printf(text, "%s%s %.0f %%", text->len ? ", " : "", tint_word(i),
                                   percent);
    }
    return g_string_free(text, text->len == 0);
}

void kinds_print(struct view *view, FILE *f)
{
    const struct shown_strip *lives = view->settings.tints ? lives_of(view) : NULL;
    for (uint32_t row = 0; lives && row < lives->row_count; row++) {
        const struct strip_cell *cells = lives->cells + (size_t)row * lives->pixels;
        if (!lives_has(lives, row))
            continue;
        fprintf(f, "kinds %u", row);
        for (unsigned i = 0; i < TINT_CLASSES; i++) {
            double sum = 0;
            for (uint32_t p = 0; p < lives->pixels; p++)
                sum += cells[p].share[states[i]] / 255.0 / lives->pixels;
            fprintf(f, " %s %.4f", tint_word(i), sum);
        }
        fprintf(f, "\n");
    }
}
