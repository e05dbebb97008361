/* Painting a scene with Cairo and Pango: on a screen, a page or an image. */
#ifndef RENDER_SCENE_PAINT_H
#define RENDER_SCENE_PAINT_H

#include "render/scene.h"

#include <cairo.h>

struct paint_theme {
    bool grey;  /* no color: every distinction is also one of shape */
    bool dark;  /* light on dark */
    bool names; /* paint the column of names */
    bool tint;  /* shade every fourth row */
    bool hairlines; /* draw thin lines across intervals without activity on a line */
};

/* Highlights. Marks are distinguished by shape, too: past events by a bar on their left, future
 * ones by a bar on their right; concurrent ones are faint; those of unknown relation have a bar on
 * either side. */
struct paint_selection {
    struct event_id selected, second; /* line 0: none */
    bool relations; /* color marks by their relation to the selected event */
    bool past, future, concurrent; /* with relations: paint these at all */
    const struct event_id *found; /* search hits, by line and number */
    size_t found_count;
    const struct event_id *marked; /* subjects of a table, by line and number */
    size_t marked_count;
    const struct event_id *pale; /* dimmed events, by line and number */
    size_t pale_count;
    const struct event_id *stops; /* breakpoints of a debugger, by line and number */
    size_t stop_count;
    const struct event_id *chain; /* a causal chain, from event to event */
    size_t chain_count;
    /* pairs, connected in red: a thread in a deadlock, and what it waits for */
    const struct event_id *stuck;
    size_t stuck_count; /* of refs */
};

/* Paints what is between from_pt and to_pt of the scene's columns (names excluded) and rows
 * first_row .. last_row (exclusive); the columns begin right of the names at x 0. */
struct paint_part {
    double from_pt, to_pt;
    uint32_t first_row, last_row;
    bool notes; /* title, caption and legend, too */
    bool sticks; /* omit what sticky_labels_paint paints */
};

void scene_paint(cairo_t *cr, const struct scene *scene, const struct paint_theme *theme,
                 const struct paint_part *part, const struct paint_selection *selection);
/* Paints labels that may be anywhere in an interval, such as what a thread waits for: none is cut
 * at part->from_pt; it begins there instead. Painted over the same rows. */
void sticky_labels_paint(cairo_t *cr, const struct scene *scene, const struct paint_theme *theme,
                         const struct paint_part *part);
/* Paints one name, the middle of its row at y 0. */
void scene_paint_name(cairo_t *cr, const struct scene *scene, uint32_t row,
                      const struct paint_theme *theme);
/* Exchanges x and y, to draw a vertical scene. */
void painter_rotate(cairo_t *cr);
double painter_brightness(bool dark); /* of the background, 0 to 1 */
void painter_fill_background(cairo_t *cr, const struct paint_theme *theme);
/* Returns the color of marks of the past, the future and the rest, from the palette of Okabe and
 * Ito (2008), which is safe for color-blind readers. relation: as in an event. */
struct target_color relation_marks_paint(uint8_t relation);

#endif
