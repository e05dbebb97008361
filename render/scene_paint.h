/* Painting a scene with Cairo and Pango: on a screen, a page or an image. */
#ifndef RENDER_SCENE_PAINT_H
#define RENDER_SCENE_PAINT_H

#include "render/scene.h"

#include <cairo.h>

struct paint_theme {
    bool grey;  /* no colour: every distinction is also one of shape */
    bool dark;  /* light on dark */
    bool names; /* paint the column of names */
    bool tint;  /* every fourth row */
    bool hairlines; /* across stretches where nothing is in a line */
};

/* What stands out.  Marks are told apart by shape, too: of the past by a bar on their left, of the
 * future on their right; concurrent ones are faint; where it is not known, by a bar on either
 * side. */
struct paint_selection {
    struct event_id selected, second; /* line 0: none */
    bool stands; /* colour marks by how they stand to the selected one */
    bool past, future, concurrent; /* with stands: paint those at all */
    const struct event_id *found; /* hits of a search, by line and number */
    size_t found_count;
    const struct event_id *marked; /* what a table speaks of, likewise */
    size_t marked_count;
    const struct event_id *pale; /* what steps back, likewise */
    size_t pale_count;
    const struct event_id *stops; /* breakpoints of a debugger, likewise */
    size_t stop_count;
    const struct event_id *chain; /* a way through the picture, from event to event */
    size_t chain_count;
    const struct event_id *stuck; /* pairs, tied in red: who waits in a deadlock, and what for */
    size_t stuck_count; /* of refs */
};

/* Paints what lies between from_pt and to_pt of the scene's columns (names apart) and rows
 * first_row .. last_row (exclusive); the columns begin right of the names at x 0. */
struct paint_part {
    double from_pt, to_pt;
    uint32_t first_row, last_row;
    bool notes; /* title, caption and legend, too */
    bool sticks; /* without what sticky_labels_paint paints */
};

void scene_paint(cairo_t *cr, const struct scene *scene, const struct paint_theme *theme,
                 const struct paint_part *part, const struct paint_selection *selection);
/* Words that may stand anywhere in a stretch, as what a thread waits for: none is cut at
 * part->from_pt, but begins there.  Over what was painted of the same rows. */
void sticky_labels_paint(cairo_t *cr, const struct scene *scene, const struct paint_theme *theme,
                         const struct paint_part *part);
/* One name, its row's middle at y 0. */
void scene_paint_name(cairo_t *cr, const struct scene *scene, uint32_t row,
                      const struct paint_theme *theme);
/* Exchanges x and y, to draw a vertical scene. */
void painter_rotate(cairo_t *cr);
double painter_brightness(bool dark); /* of the ground, 0 to 1 */
void painter_fill_background(cairo_t *cr, const struct paint_theme *theme);
/* How marks of the past, the future, the rest are coloured: the palette of Okabe and Ito (2008),
 * which people of every colour vision tell apart.  stands: as in an event. */
struct target_color relation_marks_paint(uint8_t stands);

#endif
