#include "clients/view/picture/afar.h"

#include "clients/view/parts/camera.h"
#include "clients/view/parts/settings.h"
#include "clients/view/picture/far.h"
#include "clients/view/picture/farlit.h"
#include "clients/view/picture/kinds.h"
#include "clients/view/picture/lit.h"
#include "clients/view/picture/lives.h"
#include "clients/view/picture/strips.h"
#include "clients/view/picture/thick.h"
#include "clients/view/picture/tint.h"
#include "clients/view/picture/trail.h"
#include "clients/view/picture/view.h"
#include "render/lettering.h"
#include "render/paint.h"

#include <string.h>

/* ---- the key ---- */

static void set_ink(struct view *view, cairo_t *cr)
{
    double ink = settings_theme(&view->settings).dark ? 0.85 : 0.2;
    cairo_set_source_rgb(cr, ink, ink, ink);
}

/* What is still looked for, or cannot be had, of what is switched on; the caller's; NULL: nothing. */
static char *missing(struct view *view)
{
    const char *problem = view->settings.tints ? lives_problem(view) : NULL;
    if (problem)
        return g_strdup_printf("no kinds of waits: %s", problem);
    if (view->settings.tints && lives_runs(view))
        return g_strdup("looking for waits...");
    if (view->settings.path && trail_runs(view))
        return g_strdup("looking for the critical path...");
    return NULL;
}

static double path_key(struct view *view, cairo_t *cr, double x, double y)
{
    double hidden = trail_hidden(view);
    char *text = hidden < 0.005 ? g_strdup("critical path")
                                : g_strdup_printf("critical path, %.0f %% of it on rows not here",
                                                  100 * hidden);
    thick_colour(view, cr, 0.95);
    cairo_rectangle(cr, x, y + 4, 12, 4);
    cairo_fill(cr);
    set_ink(view, cr);
    lettering_show(cr, x + 17, y, text, 9, false);
    x += lettering_width(NULL, text, 9, false) + 35;
    g_free(text);
    return x;
}

/* Above that of the strips. */
static void draw_key(struct view *view, cairo_t *cr, int height)
{
    struct paint_theme theme = settings_theme(&view->settings);
    double x = camera_names_px(&view->camera), y = height - 36;
    char *not_here = missing(view);
    if (view->settings.tints)
        x = tint_key(cr, x, y, &theme);
    if (view->settings.path)
        x = path_key(view, cr, x, y);
    if (lit_is(view))
        x = lit_key(view, cr, x, y, farlit_runs(view) ? "looking..." : NULL);
    if (not_here) {
        cairo_set_source_rgb(cr, theme.dark ? 0.85 : 0.6, theme.dark ? 0.5 : 0.2, 0.6);
        lettering_show(cr, x, y, not_here, 9, false);
    }
    g_free(not_here);
}

void afar_draw(struct view *view, cairo_t *cr, int height)
{
    struct paint_theme theme = settings_theme(&view->settings);
    if (!view->far.strip.row_count ||
        !(view->settings.tints || view->settings.path || lit_is(view)))
        return;
    farlit_draw(view, cr, height);
    kinds_draw(view, cr, height);
    trail_draw(view, cr, height);
    double bottom = strips_bottom_px(view, height);
    cairo_save(cr);
    cairo_rectangle(cr, 0, bottom, camera_along_px(&view->camera), height - 20 - bottom);
    cairo_clip(cr);
    paint_background(cr, &theme);
    draw_key(view, cr, height);
    cairo_restore(cr);
}

/* ---- in words ---- */

char *afar_say(struct view *view, double x, double y)
{
    char *said = strips_say(view, x, y), *last = said ? strrchr(said, '\n') : NULL;
    double share = (x - camera_names_px(&view->camera)) / far_width_px(view);
    uint32_t row = strips_row_at(view, y);
    if (!last)
        return said;
    GString *text = g_string_new_len(said, last - said);
    char *kinds = kinds_say(view, row, share);
    double path = trail_share(view, row, share), lit = farlit_share(view, row, share);
    if (kinds)
        g_string_append_printf(text, "\nwaits: %s", kinds);
    if (path > 0)
        g_string_append_printf(text, "\non the critical path %.3g %%", 100 * path);
    if (lit >= 0) {
        char *name = lit_name(view);
        g_string_append_printf(text, "\nin %s %.3g %%", name, 100 * lit);
        g_free(name);
    }
    g_string_append(text, last);
    g_free(kinds);
    g_free(said);
    return g_string_free(text, FALSE);
}

void afar_print(struct view *view, FILE *f)
{
    trail_print(view, f);
    kinds_print(view, f);
    farlit_print(view, f);
}

/* ---- news ---- */

void afar_take(struct view *view, enum news news)
{
    lives_take(view, news);
    trail_take(view, news);
    farlit_take(view, news);
}

bool afar_busy(struct view *view)
{
    return lives_busy(view) || trail_busy(view) || farlit_busy(view);
}

void afar_clear(struct view *view)
{
    lives_clear(view);
    trail_clear(view);
    farlit_clear(view);
}
