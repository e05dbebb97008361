#include "render/bars.h"

#include "render/drawing.h"
#include "render/lettering.h"

#include <math.h>
#include <string.h>

#define WIDTH_PT 460.0 /* of the longest bar */
#define MARGIN_PT 12.0
#define TITLE_PT 28.0
#define BAR_PT 14.0
#define CAUSES_PT 11.0
#define ROW_PT 36.0
#define KEY_PT 22.0
#define NAMES_MOST_PT 320.0
#define LETTERS_PT 8.5
#define SMALL_PT 7.5

struct sheet {
    const struct bars *bars;
    double names_pt, amounts_pt, width_pt, height_pt;
    int64_t longest;
    bool grey, dark;
};

static const struct look {
    double red, green, blue, grey;
} looks[BAR_KINDS] = {{0.22, 0.49, 0.72, 0.35},
                      {0.93, 0.6, 0.18, 0.62},
                      {0.6, 0.31, 0.64, 0.15},
                      {0.72, 0.72, 0.72, 0.85},
                      {0.95, 0.87, 0.87, 0.95}};

static void set_ink(cairo_t *cr, const struct sheet *d, double light)
{
    double v = d->dark ? 1 - light : light;
    cairo_set_source_rgb(cr, v, v, v);
}

/* The last kind, and in grey the second, are crossed by lines. */
static void hatch(cairo_t *cr, cairo_rectangle_t box)
{
    cairo_save(cr);
    cairo_rectangle(cr, box.x, box.y, box.width, box.height);
    cairo_clip(cr);
    cairo_set_source_rgb(cr, 0.45, 0.35, 0.35);
    cairo_set_line_width(cr, 0.6);
    for (double x = box.x - box.height; x < box.x + box.width; x += 3.5) {
        cairo_move_to(cr, x, box.y + box.height);
        cairo_line_to(cr, x + box.height, box.y);
    }
    cairo_stroke(cr);
    cairo_restore(cr);
}

static void fill(cairo_t *cr, const struct sheet *d, unsigned kind, cairo_rectangle_t box)
{
    const struct look *l = &looks[kind];
    if (d->grey)
        cairo_set_source_rgb(cr, l->grey, l->grey, l->grey);
    else
        cairo_set_source_rgb(cr, l->red, l->green, l->blue);
    cairo_rectangle(cr, box.x, box.y, box.width, box.height);
    cairo_fill(cr);
    if (kind == BAR_KINDS - 1 || (d->grey && kind == 1))
        hatch(cr, box);
}

static double wide(const struct sheet *d, int64_t part)
{
    return d->longest ? WIDTH_PT * (double)part / (double)d->longest : 0;
}

/* Its parts, then the frame of what they do not fill. */
static void paint_parts(cairo_t *cr, const struct sheet *d, const struct bar *bar, double y)
{
    double x = d->names_pt;
    for (unsigned kind = 0; kind < BAR_KINDS; kind++) {
        double width = wide(d, bar->parts[kind]);
        if (width > 0)
            fill(cr, d, kind, (cairo_rectangle_t){x, y, width, BAR_PT});
        x += width;
    }
}

static const char *fitting(const struct bar_cause *c, double width)
{
    if (lettering_width(NULL, c->text, SMALL_PT, false) + 4 < width)
        return c->text;
    return c->brief && lettering_width(NULL, c->brief, SMALL_PT, false) + 4 < width ? c->brief : "";
}

static void paint_causes(cairo_t *cr, const struct sheet *d, const struct bar *bar, double y)
{
    double x = d->names_pt;
    for (uint32_t i = 0; i < bar->cause_count; i++) {
        const struct bar_cause *c = &bar->causes[i];
        double width = wide(d, c->part);
        set_ink(cr, d, i % 2 ? 0.94 : 0.88);
        cairo_rectangle(cr, x, y, width, CAUSES_PT);
        cairo_fill(cr);
        set_ink(cr, d, 0.2);
        lettering_show(cr, x + 2, y + 0.5, fitting(c, width), SMALL_PT, false);
        x += width;
    }
}

static void paint_bar_name(cairo_t *cr, const struct sheet *d, const char *name, double y)
{
    cairo_save(cr);
    cairo_rectangle(cr, 0, y - 2, d->names_pt - 6, ROW_PT);
    cairo_clip(cr);
    set_ink(cr, d, 0.1);
    lettering_show(cr, MARGIN_PT, y + 1, name, LETTERS_PT, false);
    cairo_restore(cr);
}

static void paint_key(cairo_t *cr, const struct sheet *d, double y)
{
    double x = d->names_pt;
    for (unsigned kind = 0; kind < BAR_KINDS; kind++) {
        bool occurs = false;
        for (uint32_t i = 0; i < d->bars->count; i++)
            occurs |= d->bars->items[i].parts[kind] > 0;
        if (!occurs || !d->bars->kinds[kind])
            continue;
        fill(cr, d, kind, (cairo_rectangle_t){x, y + 1, 14, 9});
        set_ink(cr, d, 0.2);
        lettering_show(cr, x + 18, y, d->bars->kinds[kind], LETTERS_PT, false);
        x += 34 + lettering_width(NULL, d->bars->kinds[kind], LETTERS_PT, false);
    }
}

static void paint(void *context, cairo_t *cr)
{
    const struct sheet *d = context;
    double y = MARGIN_PT + TITLE_PT;
    set_ink(cr, d, 0.1);
    lettering_show(cr, MARGIN_PT, MARGIN_PT, d->bars->title, 11, true);
    for (uint32_t i = 0; i < d->bars->count; i++, y += ROW_PT) {
        const struct bar *bar = &d->bars->items[i];
        paint_bar_name(cr, d, bar->name, y);
        paint_parts(cr, d, bar, y);
        paint_causes(cr, d, bar, y + BAR_PT + 1);
        set_ink(cr, d, 0.1);
        lettering_show(cr, d->names_pt + wide(d, bar->all) + 6, y + 1, bar->amount, LETTERS_PT,
                       false);
    }
    paint_key(cr, d, y + 4);
    set_ink(cr, d, 0.35);
    if (d->bars->below)
        lettering_show(cr, d->names_pt, y + KEY_PT, d->bars->below, SMALL_PT, false);
}

static void measure(struct sheet *d)
{
    for (uint32_t i = 0; i < d->bars->count; i++) {
        const struct bar *bar = &d->bars->items[i];
        d->names_pt = fmax(d->names_pt, lettering_width(NULL, bar->name, LETTERS_PT, false));
        d->amounts_pt = fmax(d->amounts_pt, lettering_width(NULL, bar->amount, LETTERS_PT, false));
        d->longest = bar->all > d->longest ? bar->all : d->longest;
    }
    d->names_pt = ceil(fmin(d->names_pt, NAMES_MOST_PT) + MARGIN_PT + 10);
    d->width_pt = d->names_pt + WIDTH_PT + 6 + ceil(d->amounts_pt) + MARGIN_PT;
    d->height_pt = 2 * MARGIN_PT + TITLE_PT + ROW_PT * d->bars->count + KEY_PT + 14;
}

const char *bars_write(const struct bars *bars, const struct page_options *o, const char *path)
{
    struct sheet d = {.bars = bars, .grey = o->theme.grey, .dark = o->theme.dark};
    measure(&d);
    const char *why = drawing_write(
        &(struct drawing){
            .width_pt = d.width_pt, .height_pt = d.height_pt, .paint = paint, .context = &d},
        o, path);
    lettering_forget();
    return why;
}
