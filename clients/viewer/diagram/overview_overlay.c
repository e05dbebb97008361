#include "clients/viewer/diagram/overview_overlay.h"

#include "clients/viewer/state/viewport.h"
#include "clients/viewer/state/viewer_settings.h"
#include "clients/viewer/diagram/overview.h"
#include "clients/viewer/diagram/overview_highlight.h"
#include "clients/viewer/diagram/wait_kinds.h"
#include "clients/viewer/diagram/function_highlight.h"
#include "clients/viewer/diagram/measured_states.h"
#include "clients/viewer/diagram/state_bands_view.h"
#include "clients/viewer/diagram/path_overlay.h"
#include "clients/viewer/diagram/wait_coloring.h"
#include "clients/viewer/diagram/overview_path.h"
#include "clients/viewer/diagram/viewer.h"
#include "render/text_cache.h"
#include "render/scene_paint.h"

#include <string.h>

/* ---- the key ---- */

static void set_ink(struct view *view, cairo_t *cr)
{
    double ink = viewer_settings_theme(&view->viewer_settings).dark ? 0.85 : 0.2;
    cairo_set_source_rgb(cr, ink, ink, ink);
}

/* Returns which enabled overlay is still computed, or unavailable; the caller frees it; NULL:
 * none. */
static char *overlay_missing_text(struct view *view)
{
    const char *problem = view->viewer_settings.tints ? measured_states_problem(view) : NULL;
    if (problem)
        return g_strdup_printf("no wait classes: %s", problem);
    if (view->viewer_settings.tints && measured_states_is_running(view))
        return g_strdup("computing waits...");
    if (view->viewer_settings.overview_path && overview_path_is_running(view))
        return g_strdup("computing the critical path...");
    return NULL;
}

static double path_key(struct view *view, cairo_t *cr, double x, double y)
{
    double hidden = overview_path_hidden_share(view);
    char *text = hidden < 0.005
                     ? g_strdup("critical path")
                     : g_strdup_printf("critical path (%.0f %% on hidden rows)", 100 * hidden);
    path_overlay_set_color(view, cr, 0.95);
    cairo_rectangle(cr, x, y + 4, 12, 4);
    cairo_fill(cr);
    set_ink(view, cr);
    text_cache_show(cr, x + 17, y, text, 9, false);
    x += text_cache_width(NULL, text, 9, false) + 35;
    g_free(text);
    return x;
}

/* Draws the key above that of the state bands. */
static void draw_key(struct view *view, cairo_t *cr, int height)
{
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    double x = viewport_names_px(&view->viewport), y = height - 36;
    char *not_here = overlay_missing_text(view);
    if (view->viewer_settings.tints)
        x = wait_coloring_draw_key(cr, x, y, &theme);
    if (view->viewer_settings.overview_path)
        x = path_key(view, cr, x, y);
    if (function_highlight_is_shown(view))
        x = function_highlight_key(view, cr, x, y,
                                   overview_highlight_is_running(view) ? "computing..." : NULL);
    if (not_here) {
        cairo_set_source_rgb(cr, theme.dark ? 0.85 : 0.6, theme.dark ? 0.5 : 0.2, 0.6);
        text_cache_show(cr, x, y, not_here, 9, false);
    }
    g_free(not_here);
}

void overview_overlay_draw(struct view *view, cairo_t *cr, int height)
{
    struct paint_theme theme = viewer_settings_theme(&view->viewer_settings);
    if (!view->overview.strip.row_count ||
        !(view->viewer_settings.tints || view->viewer_settings.overview_path ||
          function_highlight_is_shown(view)))
        return;
    overview_highlight_draw(view, cr, height);
    wait_kinds_draw(view, cr, height);
    overview_path_draw(view, cr, height);
    double bottom = bands_view_bottom_px(view, height);
    cairo_save(cr);
    cairo_rectangle(cr, 0, bottom, viewport_along_px(&view->viewport), height - 20 - bottom);
    cairo_clip(cr);
    painter_fill_background(cr, &theme);
    draw_key(view, cr, height);
    cairo_restore(cr);
}

/* ---- text ---- */

char *overview_overlay_describe(struct view *view, double x, double y)
{
    char *sentence = bands_view_describe(view, x, y),
         *last = sentence ? strrchr(sentence, '\n') : NULL;
    double share = (x - viewport_names_px(&view->viewport)) / overview_width_px(view);
    uint32_t row = bands_view_row_at(view, y);
    if (!last)
        return sentence;
    GString *text = g_string_new_len(sentence, last - sentence);
    char *kinds = wait_kinds_describe(view, row, share);
    double path = overview_path_share(view, row, share),
           lit = overview_highlight_share(view, row, share);
    if (kinds)
        g_string_append_printf(text, "\nwaits: %s", kinds);
    if (path > 0)
        g_string_append_printf(text, "\non the critical path %.3g %%", 100 * path);
    if (lit >= 0) {
        char *name = function_highlight_name(view);
        g_string_append_printf(text, "\nin %s %.3g %%", name, 100 * lit);
        g_free(name);
    }
    g_string_append(text, last);
    g_free(kinds);
    g_free(sentence);
    return g_string_free(text, FALSE);
}

void overview_overlay_print(struct view *view, FILE *f)
{
    overview_path_print(view, f);
    wait_kinds_print(view, f);
    overview_highlight_print(view, f);
}

/* ---- notifications ---- */

void overview_overlay_on_notification(struct view *view, enum notification what)
{
    measured_states_on_notification(view, what);
    overview_path_on_notification(view, what);
    overview_highlight_on_notification(view, what);
}

bool overview_overlay_is_busy(struct view *view)
{
    return measured_states_is_busy(view) || overview_path_is_busy(view) ||
           overview_highlight_is_busy(view);
}

void overview_overlay_clear(struct view *view)
{
    measured_states_clear(view);
    overview_path_clear(view);
    overview_highlight_clear(view);
}
