#include "render/chart.h"

#include "memory/memory.h"
#include "render/chartway.h"
#include "render/drawing.h"
#include "render/lettering.h"
#include "render/looks.h"
#include "render/shares.h"
#include "render/timed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH_PT 700.0 /* of the rows */
#define MARGIN_PT 12.0
#define TITLE_PT 24.0
#define RULER_PT 20.0
#define KEY_PT 22.0
#define NAMES_MOST_PT 180.0
#define TICK_PT 100.0
#define BELOW_PT 10.0
#define AGAIN_PT 700.0 /* below rows that are as high there is a ruler, too */
#define SEEN_PT 0.7 /* as high is what there is at all */
#define PAGE_SHAPE (210.0 / 297.0) /* of a page, its height of its width */

struct sheet {
    const struct chart *chart;
    double names_pt, row_pt, width_pt, height_pt;
    uint32_t rows; /* of a page */
    unsigned page, pages; /* page: that is painted now */
    bool grey, dark;
};

const char *chart_word(unsigned state)
{
    static const char *const words[CHART_STATES] = {[CHART_START] = "start",
                                                    [CHART_READY] = "ready",
                                                    [CHART_RUNNING] = "running",
                                                    [CHART_BLOCKED] = "blocked",
                                                    [CHART_SYSTEM] = "system",
                                                    [CHART_TERMINATE] = "terminate",
                                                    [CHART_UNKNOWN] =
                                                        "blocked, nothing recorded tells by whom"};
    return state < CHART_STATES ? words[state] : "";
}

/* Fills the path. */
static void fill(cairo_t *cr, const struct sheet *d, unsigned state, cairo_rectangle_t box)
{
    if (d->chart->overview)
        looks_fill_work(cr, state, d->grey, box);
    else
        looks_fill(cr, state, d->grey, box);
}

static void set_ink(cairo_t *cr, const struct sheet *d, double light)
{
    double v = d->dark ? 1 - light : light;
    cairo_set_source_rgb(cr, v, v, v);
}

/* ---- rows ---- */

/* One state's path: on top of those before it, pixels that are alike in one. */
static bool trace(cairo_t *cr, float (*shares)[CHART_STATES], uint32_t pixels, unsigned state,
                  cairo_rectangle_t box)
{
    double wide = box.width / pixels;
    bool any = false;
    for (uint32_t i = 0, end; i < pixels; i = end) {
        double below = 0, share = (double)shares[i][state];
        for (unsigned k = 0; k < state; k++)
            below += (double)shares[i][k];
        for (end = i + 1; end < pixels; end++) /* (of what is below it, the others do not count) */
            if (memcmp(shares[end], shares[i], (state + 1) * sizeof **shares) != 0)
                break;
        if (share <= 0)
            continue;
        cairo_rectangle(cr, box.x + i * wide, box.y + box.height * (1 - below - share),
                        (end - i) * wide, box.height * share);
        any = true;
    }
    return any;
}

static void name_row(cairo_t *cr, const struct sheet *d, uint32_t row, double y)
{
    unsigned every = (unsigned)ceil(8 / d->row_pt);
    double size = fmin(9, fmax(6.5, d->row_pt - 2));
    if (row % every)
        return;
    cairo_save(cr);
    cairo_rectangle(cr, 0, y - 2, d->names_pt - 6, every * d->row_pt + 4);
    cairo_clip(cr);
    set_ink(cr, d, 0.1);
    lettering_show(cr, MARGIN_PT, y + d->row_pt / 2 - size * 0.65, d->chart->rows[row].name, size,
                   false);
    cairo_restore(cr);
}

static void paint_row(cairo_t *cr, const struct sheet *d, uint32_t row, double y)
{
    uint32_t pixels = d->chart->pixels;
    float(*shares)[CHART_STATES] = shares_of(d->chart, row);
    double margin = d->row_pt > 12 ? 2.5 : d->row_pt > 7 ? 1 : 0.5;
    cairo_rectangle_t box = {d->names_pt, y + margin, WIDTH_PT, d->row_pt - 2 * margin};
    for (uint32_t i = 0; i < pixels; i++)
        shares_seen(shares[i], (float)fmin(0.3, SEEN_PT / box.height));
    set_ink(cr, d, 0.85);
    cairo_rectangle(cr, box.x, y + d->row_pt - 0.4, box.width, 0.4);
    cairo_fill(cr);
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_NONE);
    for (unsigned state = 0; state < CHART_STATES; state++)
        if (trace(cr, shares, pixels, state, box))
            fill(cr, d, state, box);
    cairo_set_antialias(cr, CAIRO_ANTIALIAS_DEFAULT);
    name_row(cr, d, row, y);
    free(shares);
}

static void paint_way(cairo_t *cr, const struct sheet *d, double top)
{
    chartway_paint(cr, d->chart,
                   &(struct chartway_box){.x_pt = d->names_pt,
                                          .y_pt = top,
                                          .width_pt = WIDTH_PT,
                                          .row_pt = d->row_pt,
                                          .first = d->page * d->rows,
                                          .rows = d->rows,
                                          .grey = d->grey});
}

/* ---- ruler and key ---- */

static void paint_ruler(cairo_t *cr, const struct sheet *d, double y, double bottom)
{
    const struct chart *c = d->chart;
    double all = (double)(c->to_ns - c->from_ns);
    int64_t step = timed_round((int64_t)(all * TICK_PT / WIDTH_PT) + 1);
    for (int64_t at = (c->from_ns / step) * step; at < c->to_ns; at += step) {
        char text[40];
        double x = d->names_pt + (double)(at - c->from_ns) / all * WIDTH_PT;
        if (at < c->from_ns)
            continue;
        timed_print(at, step, text, sizeof text);
        set_ink(cr, d, 0.8);
        cairo_rectangle(cr, x, y + 2, 0.5, bottom - y - 2);
        cairo_fill(cr);
        set_ink(cr, d, 0.3);
        if (x + 3 + lettering_width(NULL, text, 8, false) <= d->names_pt + WIDTH_PT)
            lettering_show(cr, x + 3, y + 3, text, 8, false);
    }
}

/* Where the rows are many, one looks for times below them, too. */
static bool has_two_rulers(const struct sheet *d) { return d->row_pt * d->rows > AGAIN_PT; }

static void paint_times(cairo_t *cr, const struct sheet *d, double top, double bottom)
{
    paint_ruler(cr, d, top, bottom);
    if (has_two_rulers(d))
        paint_ruler(cr, d, bottom, bottom + RULER_PT);
}

static bool occurs(const struct chart *c, unsigned state)
{
    for (uint32_t i = 0; i < c->row_count; i++)
        for (uint32_t k = 0; k < c->pixels; k++)
            if (c->rows[i].pixels[k].share[state])
                return true;
    return false;
}

static double paint_word(cairo_t *cr, const struct sheet *d, unsigned state, const char *text,
                         double x, double y)
{
    cairo_rectangle_t box = {x, y + 1, 14, 9};
    cairo_rectangle(cr, box.x, box.y, box.width, box.height);
    fill(cr, d, state, box);
    set_ink(cr, d, 0.2);
    lettering_show(cr, x + 18, y, text, 8.5, false);
    return x + 18 + lettering_width(NULL, text, 8.5, false) + 16;
}

static void paint_way_word(cairo_t *cr, const struct sheet *d, double x, double y)
{
    if (!d->chart->way_count)
        return;
    chartway_sample(cr, x, y + 5.5, 14, d->grey);
    set_ink(cr, d, 0.2);
    lettering_show(cr, x + 18, y, d->chart->way_name, 8.5, false);
}

static void paint_key(cairo_t *cr, const struct sheet *d, double y)
{
    static const uint8_t shown[] = {CHART_START,  CHART_READY,   CHART_RUNNING,
                                    CHART_SYSTEM, CHART_BLOCKED, CHART_UNKNOWN};
    double x = d->names_pt;
    if (d->chart->overview) {
        x = paint_word(cr, d, CHART_START, "before it began, after it ended", x, y);
        x = paint_word(cr, d, CHART_RUNNING, "between", x, y);
        paint_way_word(cr, d, x, y);
        return;
    }
    for (unsigned i = 0; i < sizeof shown; i++)
        if (shown[i] == CHART_START)
            x = paint_word(cr, d, CHART_START, "start, terminate", x, y);
        else if (occurs(d->chart, shown[i]))
            x = paint_word(cr, d, shown[i], chart_word(shown[i]), x, y);
    paint_way_word(cr, d, x, y);
}

/* ---- all ---- */

static double measure_names(const struct chart *c)
{
    double names = 40;
    for (uint32_t i = 0; i < c->row_count; i++)
        names = fmax(names, lettering_width(NULL, c->rows[i].name, 9, false));
    return ceil(fmin(names, NAMES_MOST_PT) + MARGIN_PT + 10);
}

static void paint_number(cairo_t *cr, const struct sheet *d)
{
    char text[40];
    snprintf(text, sizeof text, "%u / %u", d->page + 1, d->pages);
    set_ink(cr, d, 0.35);
    lettering_show(cr, d->width_pt - MARGIN_PT - lettering_width(NULL, text, 7.5, false), MARGIN_PT,
                   text, 7.5, false);
}

static void paint(void *context, cairo_t *cr)
{
    const struct sheet *d = context;
    const struct chart *c = d->chart;
    uint32_t first = d->page * d->rows, rows = c->row_count - first;
    rows = rows < d->rows ? rows : d->rows;
    double y = MARGIN_PT + TITLE_PT, bottom = y + RULER_PT + d->row_pt * rows;
    set_ink(cr, d, 0.1);
    lettering_show(cr, MARGIN_PT, MARGIN_PT, c->title, 11, true);
    if (d->pages > 1)
        paint_number(cr, d);
    paint_times(cr, d, y, bottom);
    y += RULER_PT;
    for (uint32_t i = 0; i < rows; i++)
        paint_row(cr, d, first + i, y + d->row_pt * i);
    if (c->way_count)
        paint_way(cr, d, y);
    bottom += has_two_rulers(d) ? RULER_PT : 0;
    paint_key(cr, d, bottom + 8);
    set_ink(cr, d, 0.35);
    if (c->below)
        lettering_show(cr, d->names_pt, bottom + 8 + KEY_PT - 6, c->below, 7.5, false);
}

static void turn(void *context, unsigned page) { ((struct sheet *)context)->page = page; }

/* What is above and below the rows. */
static double around(const struct chart *c)
{
    return 2 * MARGIN_PT + TITLE_PT + RULER_PT + 8 + KEY_PT + (c->below ? BELOW_PT : 0);
}

/* All on one, or as many rows as a page takes, on each about as many. */
static void cut_pages(struct sheet *d, bool cut)
{
    uint32_t count = d->chart->row_count;
    double most = d->width_pt * PAGE_SHAPE - around(d->chart);
    d->rows = count;
    d->pages = 1;
    if (cut && d->row_pt * count > most) {
        d->pages = (unsigned)ceil(count / floor(most / d->row_pt));
        d->rows = (count + d->pages - 1) / d->pages;
    }
    d->height_pt = around(d->chart) + d->row_pt * d->rows + (has_two_rulers(d) ? RULER_PT : 0);
}

static double row_height(const struct chart *c, bool cut)
{
    double row = c->row_count <= 50 ? 18 : c->row_count <= 100 ? 12 : 9;
    double most = (PAGE_LIMIT_PT - around(c)) / c->row_count;
    return cut ? row : fmin(row, most);
}

const char *chart_write(const struct chart *c, const struct page_options *o, const char *path)
{
    bool cut = o->format == PAGE_PDF && o->width_pt <= 0;
    struct sheet d = {.chart = c,
                      .names_pt = measure_names(c),
                      .row_pt = row_height(c, cut),
                      .grey = o->theme.grey,
                      .dark = o->theme.dark};
    d.width_pt = d.names_pt + WIDTH_PT + MARGIN_PT;
    cut_pages(&d, cut);
    const char *why = drawing_write(&(struct drawing){.width_pt = d.width_pt,
                                                      .height_pt = d.height_pt,
                                                      .paint = paint,
                                                      .context = &d,
                                                      .pages = d.pages,
                                                      .turn = turn},
                                    o, path);
    lettering_forget();
    return why;
}
