#include "render/painter.h"

#include "render/text_cache.h"
#include "render/scene_paint.h"

#include <math.h>

void painter_rotate(cairo_t *cr)
{
    cairo_matrix_t turn;
    cairo_matrix_init(&turn, 0, 1, 1, 0, 0, 0);
    cairo_transform(cr, &turn);
}

void painter_color(const struct painter *p, struct target_color c)
{
    double grey = 0.3 * c.red + 0.59 * c.green + 0.11 * c.blue;
    if (p->theme->grey)
        c = (struct target_color){grey * 0.6, grey * 0.6, grey * 0.6};
    if (p->theme->dark && fabs(c.red - c.green) < 0.05 && fabs(c.green - c.blue) < 0.05) {
        double v = 0.9 - 0.6 * grey; /* inverted: dark grays become light */
        c = (struct target_color){v, v, v};
    } else if (p->theme->dark) { /* the same hue, light enough for a dark background */
        c.red = 0.45 + 0.55 * c.red;
        c.green = 0.45 + 0.55 * c.green;
        c.blue = 0.45 + 0.55 * c.blue;
    }
    if (p->alpha < 1)
        cairo_set_source_rgba(p->cr, c.red, c.green, c.blue, p->alpha);
    else
        cairo_set_source_rgb(p->cr, c.red, c.green, c.blue);
}

void painter_text(const struct painter *p, double x, double y, const char *text, double size,
                  bool bold)
{
    if (!p->scene->vertical) {
        text_cache_show(p->cr, x, y, text, size, bold);
        return;
    }
    cairo_save(p->cr);
    painter_rotate(p->cr);
    text_cache_show(p->cr, y, x, text, size, bold);
    cairo_restore(p->cr);
}

double painter_brightness(bool dark) { return dark ? 0.13 : 1; }

void painter_background(const struct painter *p)
{
    double v = painter_brightness(p->theme->dark);
    cairo_set_source_rgb(p->cr, v, v, v);
}

void painter_fill_background(cairo_t *cr, const struct paint_theme *theme)
{
    double v = painter_brightness(theme->dark);
    cairo_set_source_rgb(cr, v, v, v);
    cairo_paint(cr);
}

bool painter_sees_row(const struct painter *p, uint32_t row)
{
    return row >= p->part->first_row && row < p->part->last_row;
}
