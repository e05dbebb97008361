/* Painting a scene with Cairo and Pango: on a screen, a page or an image. */
#ifndef RENDER_PAINT_H
#define RENDER_PAINT_H

#include "render/scene.h"

#include <cairo.h>

struct paint_theme {
    bool grey;  /* no colour: every distinction is also one of shape */
    bool dark;  /* light on dark */
    bool names; /* paint the column of names */
};

/* Selected marks, for a viewer. */
struct paint_selection {
    struct ref selected;
};

/* Paints what lies between from_pt and to_pt of the scene's columns (names apart) and rows
 * first_row .. last_row (exclusive); the columns begin right of the names at x 0. */
struct paint_part {
    double from_pt, to_pt;
    uint32_t first_row, last_row;
    bool notes; /* title, caption and legend, too */
};

void paint_scene(cairo_t *cr, const struct scene *scene, const struct paint_theme *theme,
                 const struct paint_part *part, const struct paint_selection *selection);
/* Only one half of it, for a screen whose names stay while the columns scroll. */
void paint_names(cairo_t *cr, const struct scene *scene, const struct paint_theme *theme);
void paint_background(cairo_t *cr, const struct paint_theme *theme);

#endif
