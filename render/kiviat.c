#include "render/kiviat.h"

#include "base/alloc.h"
#include "render/text_cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RADIUS_PT 150.0
#define SIDE_PT 150.0 /* for names at either side */
#define TITLE_PT 36.0
#define NAMES_PT 44.0 /* for names above and below */
#define NOTE_PT 16.0
#define LETTERS_PT 9.0
#define SMALL_PT 7.5
#define BAR_LETTERS 40

struct kiviat_page {
    const struct kiviat *kiviat;
    double x, y; /* the center */
    bool grey, dark;
};

void kiviat_arrange(struct kiviat *k)
{
    struct kiviat_axis *by[2] = {xcalloc(k->count + 1, sizeof *k->axes),
                                 xcalloc(k->count + 1, sizeof *k->axes)};
    unsigned count[2] = {0, 0}, next[2] = {0, 0};
    for (unsigned i = 0; i < k->count; i++) {
        unsigned low = !k->axes[i].high;
        by[low][count[low]++] = k->axes[i];
    }
    for (unsigned i = 0, low = 0; i < k->count; i++, low = !low) {
        unsigned from = next[low] < count[low] ? low : !low;
        k->axes[i] = by[from][next[from]++];
    }
    free(by[0]);
    free(by[1]);
}

/* ---- painting ---- */

static void set_ink(cairo_t *cr, const struct kiviat_page *d, double light)
{
    double v = d->dark ? 1 - light : light;
    cairo_set_source_rgb(cr, v, v, v);
}

/* Returns the angle of an axis: the first points up, the others follow clockwise. */
static double angle_of(const struct kiviat_page *d, unsigned axis)
{
    return -M_PI / 2 + 2 * M_PI * axis / d->kiviat->count;
}

static void to_point(cairo_t *cr, const struct kiviat_page *d, unsigned axis, double value,
                     bool first)
{
    double x = d->x + RADIUS_PT * value * cos(angle_of(d, axis)),
           y = d->y + RADIUS_PT * value * sin(angle_of(d, axis));
    if (first)
        cairo_move_to(cr, x, y);
    else
        cairo_line_to(cr, x, y);
}

static void paint_rings(cairo_t *cr, const struct kiviat_page *d)
{
    cairo_set_line_width(cr, 0.5);
    for (unsigned ring = 1; ring <= 4; ring++) {
        set_ink(cr, d, ring == 4 ? 0.55 : 0.85);
        cairo_new_sub_path(cr);
        cairo_arc(cr, d->x, d->y, RADIUS_PT * ring / 4, 0, 2 * M_PI);
        cairo_stroke(cr);
    }
}

/* Paints the axes; their good end is thick. */
static void paint_axes(cairo_t *cr, const struct kiviat_page *d)
{
    for (unsigned i = 0; i < d->kiviat->count; i++) {
        bool high = d->kiviat->axes[i].high;
        set_ink(cr, d, 0.6);
        cairo_set_line_width(cr, 0.7);
        to_point(cr, d, i, 0, true);
        to_point(cr, d, i, 1, false);
        cairo_stroke(cr);
        set_ink(cr, d, 0.45);
        cairo_set_line_width(cr, 3);
        to_point(cr, d, i, high ? 0.85 : 0, true);
        to_point(cr, d, i, high ? 1 : 0.15, false);
        cairo_stroke(cr);
    }
}

static void paint_star(cairo_t *cr, const struct kiviat_page *d)
{
    for (unsigned i = 0; i < d->kiviat->count; i++)
        to_point(cr, d, i, d->kiviat->axes[i].value, i == 0);
    cairo_close_path(cr);
    if (d->grey)
        cairo_set_source_rgba(cr, 0.5, 0.5, 0.5, 0.35);
    else
        cairo_set_source_rgba(cr, 0.22, 0.49, 0.72, 0.3);
    cairo_fill_preserve(cr);
    if (d->grey)
        set_ink(cr, d, 0.2);
    else
        cairo_set_source_rgb(cr, 0.22, 0.49, 0.72);
    cairo_set_line_width(cr, 1.6);
    cairo_stroke(cr);
    for (unsigned i = 0; i < d->kiviat->count; i++) {
        double value = d->kiviat->axes[i].value;
        cairo_new_sub_path(cr);
        cairo_arc(cr, d->x + RADIUS_PT * value * cos(angle_of(d, i)),
                  d->y + RADIUS_PT * value * sin(angle_of(d, i)), 2.6, 0, 2 * M_PI);
        cairo_fill(cr);
    }
}

static void name_axis(cairo_t *cr, const struct kiviat_page *d, unsigned i)
{
    const struct kiviat_axis *a = &d->kiviat->axes[i];
    char *scale = xasprintf("good: %s; axis to %s", a->high ? "high" : "low", a->end);
    const char *const lines[] = {a->name, a->amount, scale};
    double c = cos(angle_of(d, i)), s = sin(angle_of(d, i));
    double x = d->x + (RADIUS_PT + 10) * c, y = d->y + (RADIUS_PT + 10) * s + 16 * (s - 1);
    for (unsigned k = 0; k < 3; k++) {
        double size = k == 2 ? SMALL_PT : LETTERS_PT;
        double wide = text_cache_width(NULL, lines[k], size, k == 0);
        double left = fabs(c) < 0.2 ? x - wide / 2 : c < 0 ? x - wide : x;
        set_ink(cr, d, k == 2 ? 0.4 : 0);
        text_cache_show(cr, left, y, lines[k], size, k == 0);
        y += 11;
    }
    free(scale);
}

static void kiviat_paint(void *context, cairo_t *cr)
{
    const struct kiviat_page *d = context;
    const struct kiviat *k = d->kiviat;
    set_ink(cr, d, 0);
    text_cache_show(cr, 12, 10, k->title, 11, true);
    paint_rings(cr, d);
    paint_axes(cr, d);
    paint_star(cr, d);
    for (unsigned i = 0; i < k->count; i++)
        name_axis(cr, d, i);
    set_ink(cr, d, 0.35);
    if (k->below)
        text_cache_show(cr, 12, d->y + RADIUS_PT + NAMES_PT + 4, k->below, SMALL_PT, false);
}

bool kiviat_write(const struct kiviat *k, const struct document_options *o, const char *path,
                  const char **why)
{
    struct kiviat_page d = {.kiviat = k,
                            .x = SIDE_PT + RADIUS_PT,
                            .y = TITLE_PT + NAMES_PT + RADIUS_PT,
                            .grey = o->theme.grey,
                            .dark = o->theme.dark};
    bool written =
        document_write_drawing(&(struct drawing){.width_pt = 2 * d.x,
                                                 .height_pt = d.y + RADIUS_PT + NAMES_PT + NOTE_PT,
                                                 .paint = kiviat_paint,
                                                 .context = &d},
                               o, path, why);
    text_cache_clear();
    return written;
}

/* ---- text output ---- */

void kiviat_print(const struct kiviat *k, FILE *f)
{
    size_t widest = 0;
    for (unsigned i = 0; i < k->count; i++)
        widest = strlen(k->axes[i].name) > widest ? strlen(k->axes[i].name) : widest;
    fprintf(f, "%s\n", k->title);
    for (unsigned i = 0; i < k->count; i++) {
        const struct kiviat_axis *a = &k->axes[i];
        int filled = (int)lround(a->value * BAR_LETTERS);
        fprintf(f, "%-*s  |", (int)widest, a->name);
        for (int c = 0; c < BAR_LETTERS; c++)
            fputc(c < filled ? '#' : ' ', f);
        fprintf(f, "| %s of %s, good: %s\n", a->amount, a->end, a->high ? "high" : "low");
    }
    if (k->below)
        fprintf(f, "%s\n", k->below);
}
