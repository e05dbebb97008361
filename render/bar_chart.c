#include "render/bar_chart.h"

#include "base/alloc.h"
#include "render/text_cache.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH_PT 460.0 /* default length of the longest bar */
#define WIDTH_LEAST_PT 100.0
/* if the bars would be shorter, names are above them instead of beside them */
#define BESIDE_PT 200.0
#define MARGIN_PT 12.0
#define TITLE_PT 28.0
#define BAR_PT 14.0
#define CAUSES_PT 11.0
#define ROW_PT 36.0
#define KEY_LINE_PT 13.0
#define NAME_PT 13.0 /* height of a name above its bar */
#define NOTE_LINE_PT 10.0
#define PAGE_SHAPE (297.0 / 210.0) /* height of a page / its width */
#define NAMES_MOST_PT 320.0
#define LETTERS_PT 8.5
#define SMALL_PT 7.5

struct bar_chart_page {
    const struct bar_chart *bars;
    /* bar_pt: length of the longest bar */
    double names_pt, amounts_pt, bar_pt, row_pt, width_pt, height_pt;
    bool above; /* names are above their bars */
    double key_pt, note_pt; /* heights */
    uint32_t rows; /* per page */
    unsigned page, pages; /* page: the one that is being painted */
    int64_t longest;
    bool grey, dark;
};

static const struct bar_chart_style {
    double red, green, blue, grey;
} looks[BAR_KINDS] = {{0.22, 0.49, 0.72, 0.35},
                      {0.93, 0.6, 0.18, 0.62},
                      {0.6, 0.31, 0.64, 0.15},
                      {0.72, 0.72, 0.72, 0.85},
                      {0.95, 0.87, 0.87, 0.95}};

static void set_ink(cairo_t *cr, const struct bar_chart_page *d, double light)
{
    double v = d->dark ? 1 - light : light;
    cairo_set_source_rgb(cr, v, v, v);
}

/* Hatches a box: the last kind, and in gray the second one, too. */
static void bar_chart_hatch_box(cairo_t *cr, cairo_rectangle_t box)
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

static void bar_chart_fill_box(cairo_t *cr, const struct bar_chart_page *d, unsigned kind,
                               cairo_rectangle_t box)
{
    const struct bar_chart_style *l = &looks[kind];
    if (d->grey)
        cairo_set_source_rgb(cr, l->grey, l->grey, l->grey);
    else
        cairo_set_source_rgb(cr, l->red, l->green, l->blue);
    cairo_rectangle(cr, box.x, box.y, box.width, box.height);
    cairo_fill(cr);
    if (kind == BAR_KINDS - 1 || (d->grey && kind == 1))
        bar_chart_hatch_box(cr, box);
}

static double bar_chart_part_width(const struct bar_chart_page *d, int64_t part)
{
    return d->longest ? d->bar_pt * (double)part / (double)d->longest : 0;
}

/* Paints the parts of a bar side by side. */
static void paint_parts(cairo_t *cr, const struct bar_chart_page *d, const struct chart_bar *bar,
                        double y)
{
    double x = d->names_pt;
    for (unsigned kind = 0; kind < BAR_KINDS; kind++) {
        double width = bar_chart_part_width(d, bar->parts[kind]);
        if (width > 0)
            bar_chart_fill_box(cr, d, kind, (cairo_rectangle_t){x, y, width, BAR_PT});
        x += width;
    }
}

static const char *bar_chart_fitting_cause_text(const struct chart_bar_cause *c, double width)
{
    if (text_cache_width(NULL, c->text, SMALL_PT, false) + 4 < width)
        return c->text;
    return c->brief && text_cache_width(NULL, c->brief, SMALL_PT, false) + 4 < width ? c->brief
                                                                                     : "";
}

static void paint_causes(cairo_t *cr, const struct bar_chart_page *d, const struct chart_bar *bar,
                         double y)
{
    double x = d->names_pt;
    for (uint32_t i = 0; i < bar->cause_count; i++) {
        const struct chart_bar_cause *c = &bar->causes[i];
        double width = bar_chart_part_width(d, c->part);
        set_ink(cr, d, i % 2 ? 0.94 : 0.88);
        cairo_rectangle(cr, x, y, width, CAUSES_PT);
        cairo_fill(cr);
        set_ink(cr, d, 0.2);
        text_cache_show(cr, x + 2, y + 0.5, bar_chart_fitting_cause_text(c, width), SMALL_PT,
                        false);
        x += width;
    }
}

static void paint_bar_name(cairo_t *cr, const struct bar_chart_page *d, const char *name, double y)
{
    cairo_save(cr);
    cairo_rectangle(cr, 0, y - 2, (d->above ? d->width_pt : d->names_pt) - 6, d->row_pt);
    cairo_clip(cr);
    set_ink(cr, d, 0.1);
    text_cache_show(cr, MARGIN_PT, y + 1, name, LETTERS_PT, false);
    cairo_restore(cr);
}

static bool bar_chart_kind_occurs(const struct bar_chart *bars, unsigned kind)
{
    for (uint32_t i = 0; i < bars->count; i++)
        if (bars->items[i].parts[kind] > 0)
            return bars->kinds[kind] != NULL;
    return false;
}

/* Paints the legend, or only measures it if `cr` is NULL. Returns its height. */
static double paint_key(cairo_t *cr, const struct bar_chart_page *d, double top)
{
    double x = d->names_pt, y = top;
    for (unsigned kind = 0; kind < BAR_KINDS; kind++) {
        if (!bar_chart_kind_occurs(d->bars, kind))
            continue;
        double wide = text_cache_width(NULL, d->bars->kinds[kind], LETTERS_PT, false);
        if (x > d->names_pt && x + 18 + wide > d->width_pt - 4) {
            x = d->names_pt;
            y += KEY_LINE_PT;
        }
        if (cr) {
            bar_chart_fill_box(cr, d, kind, (cairo_rectangle_t){x, y + 1, 14, 9});
            set_ink(cr, d, 0.2);
            text_cache_show(cr, x + 18, y, d->bars->kinds[kind], LETTERS_PT, false);
        }
        x += 34 + wide;
    }
    return y - top + KEY_LINE_PT;
}

/* Paints the note, or only measures it if `cr` is NULL. Returns its height. */
static double paint_note(cairo_t *cr, const struct bar_chart_page *d, double top)
{
    const char *text = d->bars->below ? d->bars->below : "";
    double y = top;
    for (size_t n; *text; text += n + (text[n] == ' '), y += NOTE_LINE_PT) {
        n = text_cache_line(text, d->width_pt - d->names_pt - 4, SMALL_PT);
        char *line = xstrndup(text, n);
        if (cr) {
            set_ink(cr, d, 0.35);
            text_cache_show(cr, d->names_pt, y, line, SMALL_PT, false);
        }
        free(line);
    }
    return y - top;
}

static void paint_number(cairo_t *cr, const struct bar_chart_page *d)
{
    char text[40];
    snprintf(text, sizeof text, "%u / %u", d->page + 1, d->pages);
    set_ink(cr, d, 0.35);
    text_cache_show(cr, d->width_pt - MARGIN_PT - text_cache_width(NULL, text, SMALL_PT, false),
                    MARGIN_PT, text, SMALL_PT, false);
}

static void bar_chart_paint(void *context, cairo_t *cr)
{
    const struct bar_chart_page *d = context;
    double y = MARGIN_PT + TITLE_PT, most = d->width_pt - 2 * MARGIN_PT,
           wide_title = text_cache_width(NULL, d->bars->title, 11, true);
    set_ink(cr, d, 0.1);
    text_cache_show(cr, MARGIN_PT, MARGIN_PT, d->bars->title,
                    wide_title > most ? 11 * most / wide_title : 11, true);
    if (d->pages > 1)
        paint_number(cr, d);
    for (uint32_t i = d->page * d->rows; i < d->bars->count && i < (d->page + 1) * d->rows;
         i++, y += d->row_pt) {
        const struct chart_bar *bar = &d->bars->items[i];
        double at = y + (d->above ? NAME_PT : 0);
        paint_bar_name(cr, d, bar->name, y);
        paint_parts(cr, d, bar, at);
        paint_causes(cr, d, bar, at + BAR_PT + 1);
        set_ink(cr, d, 0.1);
        text_cache_show(cr, d->names_pt + bar_chart_part_width(d, bar->all) + 6, at + 1,
                        bar->amount, LETTERS_PT, false);
    }
    paint_key(cr, d, y + 4);
    paint_note(cr, d, y + 4 + d->key_pt + 5);
}

static void measure_texts(struct bar_chart_page *d)
{
    for (uint32_t i = 0; i < d->bars->count; i++) {
        const struct chart_bar *bar = &d->bars->items[i];
        d->names_pt = fmax(d->names_pt, text_cache_width(NULL, bar->name, LETTERS_PT, false));
        d->amounts_pt = fmax(d->amounts_pt, text_cache_width(NULL, bar->amount, LETTERS_PT, false));
        d->longest = bar->all > d->longest ? bar->all : d->longest;
    }
    d->names_pt = ceil(fmin(d->names_pt, NAMES_MOST_PT) + MARGIN_PT + 10);
}

/* Puts all bars on one page, or divides them evenly among as many pages as they need. */
static void cut_pages(struct bar_chart_page *d, bool cut)
{
    double around = 2 * MARGIN_PT + TITLE_PT + 4 + d->key_pt + 5 + d->note_pt + 4;
    double fit = floor((d->width_pt * PAGE_SHAPE - around) / d->row_pt);
    d->rows = d->bars->count;
    d->pages = 1;
    if (cut && fit >= 1 && d->rows > fit) {
        d->pages = (unsigned)ceil(d->rows / fit);
        d->rows = (d->rows + d->pages - 1) / d->pages;
    }
    d->height_pt = around + d->row_pt * d->rows;
}

static void bar_chart_measure_layout(struct bar_chart_page *d, const struct document_options *o)
{
    measure_texts(d);
    double others = 6 + ceil(d->amounts_pt) + MARGIN_PT;
    d->bar_pt = o->width_pt > 0 ? o->width_pt - d->names_pt - others : WIDTH_PT;
    d->above = d->bar_pt < BESIDE_PT;
    if (d->above) {
        d->names_pt = MARGIN_PT;
        d->bar_pt = fmax(WIDTH_LEAST_PT, o->width_pt - MARGIN_PT - others);
    }
    d->row_pt = ROW_PT + (d->above ? NAME_PT : 0);
    d->width_pt = d->names_pt + d->bar_pt + others;
    d->key_pt = paint_key(NULL, d, 0);
    d->note_pt = paint_note(NULL, d, 0);
    cut_pages(d, o->format == DOCUMENT_PDF && o->width_pt <= 0);
}

static void bar_chart_set_page(void *context, unsigned page)
{
    ((struct bar_chart_page *)context)->page = page;
}

bool bar_chart_write(const struct bar_chart *bars, const struct document_options *o,
                     const char *path, const char **why)
{
    struct bar_chart_page d = {.bars = bars, .grey = o->theme.grey, .dark = o->theme.dark};
    bar_chart_measure_layout(&d, o);
    bool written = document_write_drawing(&(struct drawing){.width_pt = d.width_pt,
                                                            .height_pt = d.height_pt,
                                                            .paint = bar_chart_paint,
                                                            .context = &d,
                                                            .pages = d.pages,
                                                            .turn = bar_chart_set_page},
                                          o, path, why);
    text_cache_clear();
    return written;
}
