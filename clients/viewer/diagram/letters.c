#include "clients/viewer/diagram/letters.h"

#include "clients/viewer/state/viewport.h"
#include "clients/viewer/diagram/viewer.h"

#include <math.h>

#define USUAL_PT 11.0 /* drawings are not scaled for fonts up to this size */
#define USUAL_DPI 96.0
#define MOST 4.0
#define STEPS 16.0 /* per unit, so that tiles of the canvas end at whole screen pixels */

static double size_of(GtkSettings *settings)
{
    char *name = NULL;
    int dpi = 0;
    g_object_get(settings, "gtk-font-name", &name, "gtk-xft-dpi", &dpi, NULL);
    PangoFontDescription *font = pango_font_description_from_string(name ? name : "");
    double size = pango_font_description_get_size(font) / (double)PANGO_SCALE;
    bool pixels = pango_font_description_get_size_is_absolute(font);
    pango_font_description_free(font);
    g_free(name);
    double scale = dpi > 0 ? dpi / 1024.0 / USUAL_DPI : 1;
    if (size <= 0)
        size = USUAL_PT;
    return pixels ? size * 72 / USUAL_DPI : size * scale;
}

static double unit_of(GtkSettings *settings)
{
    return CLAMP(round(size_of(settings) / USUAL_PT * STEPS) / STEPS, 1, MOST);
}

bool letters_update(struct view *view)
{
    double unit = unit_of(gtk_widget_get_settings(view->window));
    bool changed = unit != view->viewport.unit_px;
    view->viewport.unit_px = unit;
    return changed;
}

void letters_scale(const struct view *view, cairo_t *cr, int *width, int *height)
{
    double unit = view->viewport.unit_px;
    cairo_scale(cr, unit, unit);
    *width = (int)ceil(*width / unit);
    *height = (int)ceil(*height / unit);
}

int letters_px(const struct view *view, double px)
{
    return (int)ceil(px * view->viewport.unit_px);
}
