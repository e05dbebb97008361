#include "render/palette.h"

#include <math.h>

#define HATCH_PT 3.5 /* distance of lines */

/* The gray of a state, and whether it is hatched. */
struct palette_gray {
    double value;
    bool hatched;
};

static const struct palette_entry {
    struct target_color color;
    bool hatched;
    struct palette_gray gray;
} entries[PALETTE_STATES] = {
    [THREAD_STATE_CREATED] = {{0.8, 0.87, 0.95}, false, {0.9, false}},
    [THREAD_STATE_RUNNABLE] = {{0.702, 0.153, 0.106}, false, {0.95, true}},
    [THREAD_STATE_RUNNING] = {{0.114, 0.259, 0.569}, false, {0.175, false}},
    [THREAD_STATE_BLOCKED] = {{0.969, 0.788, 0.282}, false, {0.675, false}},
    [THREAD_STATE_OFF_CPU] = {{0.4, 0.749, 0.725}, false, {0.42, true}},
    [THREAD_STATE_EXITED] = {{0.7, 0.7, 0.7}, false, {0.77, false}},
    [THREAD_STATE_UNATTRIBUTED] = {{0.98, 0.91, 0.69}, true, {0.9, true}},
    [PALETTE_INSIDE] = {{0.427, 0.561, 0.816}, false, {0.42, false}}};

struct target_color palette_color(unsigned state, bool grey)
{
    double v = entries[state].gray.value;
    return grey ? (struct target_color){v, v, v} : entries[state].color;
}

static void palette_set_color(cairo_t *cr, struct target_color c)
{
    cairo_set_source_rgb(cr, c.red, c.green, c.blue);
}

/* Draws the lines of a hatched state; those of runnable threads lean the other way. */
static void palette_hatch(cairo_t *cr, unsigned state, cairo_rectangle_t box)
{
    double slope = state == THREAD_STATE_RUNNABLE ? 1 : -1;
    cairo_set_source_rgb(cr, 0.25, 0.25, 0.25);
    cairo_set_line_width(cr, 0.7);
    double first = floor((box.x - box.height) / HATCH_PT) * HATCH_PT;
    for (double x = first; x < box.x + box.width + box.height; x += HATCH_PT) {
        cairo_move_to(cr, x, box.y + box.height);
        cairo_line_to(cr, x + slope * box.height, box.y);
    }
    cairo_stroke(cr);
}

bool palette_is_hatched(unsigned state, bool grey)
{
    return grey ? entries[state].gray.hatched : entries[state].hatched;
}

void palette_fill(cairo_t *cr, unsigned state, bool grey, cairo_rectangle_t box)
{
    palette_set_color(cr, palette_color(state, grey));
    if (!palette_is_hatched(state, grey)) {
        cairo_fill(cr);
        return;
    }
    cairo_save(cr);
    cairo_fill_preserve(cr);
    cairo_clip(cr);
    palette_hatch(cr, state, box);
    cairo_restore(cr);
    cairo_new_path(cr);
}

void palette_fill_work(cairo_t *cr, unsigned state, bool grey, cairo_rectangle_t box)
{
    palette_fill(cr, state == THREAD_STATE_RUNNING ? PALETTE_INSIDE : state, grey, box);
}
