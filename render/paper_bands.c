#include "render/paper_bands.h"

#include "base/alloc.h"
#include "render/paper_rows.h"
#include "render/painter.h"
#include "render/text_cache.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MARGIN_PT 28.0
#define BETWEEN_PT 12.0 /* between bands */
#define NOTE_PT 9.0 /* height of the line below a band, */
#define NOTE_SIZE_PT 6.0 /* and of its text */
#define LEAST_SCALE 0.75
#define NAMES_MOST 0.6  /* maximum share of the page's width */

static double ruler_of(const struct scene *s) { return s->tick_count ? s->ruler_pt : 0; }

/* Returns the height of legend and caption, which are below the rows. */
static double paper_bands_footer_height(const struct scene *s)
{
    return fmax(0, s->height_pt - s->bottom_pt);
}

static double rows_pt(const struct scene *s) { return s->row_count * s->row_pt; }

/* Returns a single band on a page of the drawing's size, scaled to the requested width. */
static struct paper_bands one_page(const struct scene *scene, const struct document_options *o)
{
    double width = scene->vertical ? scene->height_pt : scene->width_pt;
    struct paper_bands bands = {.scale = o->width_pt > 0 ? o->width_pt / width : 1,
                                .columns_pt = scene->width_pt - scene->names_pt,
                                .rows = scene->row_count,
                                .down = 1,
                                .first = 1,
                                .others = 1};
    bands.width_pt = width * bands.scale;
    bands.height_pt = (scene->vertical ? scene->width_pt : scene->height_pt) * bands.scale;
    return bands;
}

/* ---- one band ---- */

struct paper_band {
    uint32_t end; /* the column after its last one */
    double from_pt, to_pt;
    bool *kept; /* by row; NULL: all are */
    uint32_t rows; /* number of kept rows */
    bool torn; /* a deadlock cycle continues in the next band */
};

/* Returns the band that begins with the i-th column; paper_band_free() frees it. */
static struct paper_band paper_band_at(const struct scene *scene, const struct document_options *o,
                                       const struct paper_bands *bands, uint32_t i)
{
    struct paper_band band = {
        .end = i, .from_pt = scene->names_pt, .to_pt = scene->width_pt, .rows = scene->row_count};
    const struct scene_column *c = scene->columns;
    if (i < scene->column_count) {
        band.end = i + paper_bands_columns(scene, bands, i);
        band.from_pt = i ? c[i].x_pt - c[i].left_pt : band.from_pt;
        band.to_pt =
            band.end < scene->column_count ? c[band.end].x_pt - c[band.end].left_pt : band.to_pt;
        band.torn = band.end < scene->column_count && c[band.end].break_cost >= BREAK_IN_DEADLOCK;
    }
    band.to_pt = fmin(band.to_pt, band.from_pt + bands->columns_pt);
    if (bands->narrow) {
        band.kept = xcalloc(scene->row_count + 1, sizeof *band.kept);
        band.rows = paper_rows_find(scene, &o->selection, band.from_pt, band.to_pt, band.kept);
    }
    return band;
}

static void paper_band_free(struct paper_band *band) { free(band->kept); }

static bool paper_band_is_noted(const struct scene *scene, const struct paper_bands *bands,
                                const struct paper_band *band)
{
    return bands->narrow && (band->rows < scene->row_count || band->torn);
}

/* Returns the distance from a band to the next one. */
static double paper_band_height(const struct scene *scene, const struct paper_bands *bands,
                                const struct paper_band *band)
{
    double left_out = (scene->row_count - band->rows) * scene->row_pt;
    return bands->band_pt - left_out + (paper_band_is_noted(scene, bands, band) ? NOTE_PT : 0);
}

/* ---- cutting ---- */

/* Returns the width of the widest deadlock cycle, with the columns at both ends. */
static double paper_bands_widest_cycle(const struct scene *scene)
{
    const struct scene_column *c = scene->columns;
    double widest = 0;
    for (uint32_t i = 1, end; i < scene->column_count; i = end + 1) {
        for (end = i; end < scene->column_count && c[end].break_cost >= BREAK_IN_DEADLOCK; end++)
            ;
        if (end > i)
            widest = fmax(widest, c[end - 1].x_pt + c[end - 1].right_pt -
                                      (c[i - 1].x_pt - c[i - 1].left_pt));
    }
    return widest;
}

/* Returns one page of the requested width, as high as its bands are together. */
static struct paper_bands paper_bands_wrap_to_width(const struct scene *scene,
                                                    const struct document_options *o)
{
    double width = o->width_pt, cycle = paper_bands_widest_cycle(scene), height = 0, last = 0;
    struct paper_bands bands = {.width_pt = width,
                                .rows = scene->row_count,
                                .down = 1,
                                .band_pt = ruler_of(scene) + rows_pt(scene) + BETWEEN_PT};
    bands.scale = o->wrap_scale > 0 ? o->wrap_scale : 1;
    if (scene->names_pt * bands.scale > width * NAMES_MOST)
        bands.scale = width * NAMES_MOST / scene->names_pt;
    double whole = width / (scene->names_pt + cycle); /* the scale at which the cycle fits */
    if (whole < bands.scale && whole >= LEAST_SCALE * bands.scale)
        bands.scale = whole;
    bands.columns_pt = width / bands.scale - scene->names_pt;
    bands.narrow = paper_bands_columns(scene, &bands, 0) < scene->column_count;
    for (uint32_t i = 0; i < scene->column_count;) {
        struct paper_band band = paper_band_at(scene, o, &bands, i);
        last = paper_band_height(scene, &bands, &band);
        height += last;
        bands.first++;
        i = band.end;
        paper_band_free(&band);
    }
    height += bands.first ? -last : 0;
    bands.height_pt =
        (scene->height_pt + height + (bands.first ? last - bands.band_pt : 0)) * bands.scale;
    bands.first = bands.first ? bands.first : 1;
    bands.others = 1;
    return bands;
}

static unsigned paper_bands_count_fitting(double room, double band)
{
    return room < band ? 1 : (unsigned)floor((room + BETWEEN_PT) / band);
}

/* Reduces the scale, down to LEAST_SCALE, if that makes space for one more band on the first
 * page. */
static void paper_bands_shrink_to_fit(const struct scene *scene, struct paper_bands *bands,
                                      double across)
{
    double title = scene->top_pt - ruler_of(scene) + paper_bands_footer_height(scene);
    unsigned now = paper_bands_count_fitting(across / bands->scale - title, bands->band_pt);
    double smaller = across / (title + (now + 1) * bands->band_pt - BETWEEN_PT);
    if (smaller < bands->scale && smaller >= LEAST_SCALE)
        bands->scale = smaller;
}

static struct paper_bands on_paper(const struct scene *scene, const struct document_options *o)
{
    struct paper_bands bands = {.paper = true,
                                .width_pt = o->paper_width_pt,
                                .height_pt = o->paper_height_pt,
                                .margin_pt = MARGIN_PT,
                                .scale = 1,
                                .first = 1,
                                .others = 1};
    double along = (scene->vertical ? o->paper_height_pt : o->paper_width_pt) - 2 * MARGIN_PT;
    double across = (scene->vertical ? o->paper_width_pt : o->paper_height_pt) - 2 * MARGIN_PT;
    double notes = scene->height_pt - (scene->bottom_pt - scene->top_pt) + 14;
    if (o->shrink > 0 && scene->row_count)
        bands.scale = fmax(o->shrink, fmin(1, across / (rows_pt(scene) + notes)));
    if (scene->names_pt * bands.scale > along * NAMES_MOST)
        bands.scale = along * NAMES_MOST / scene->names_pt;
    bands.columns_pt = along / bands.scale - scene->names_pt;
    double rows = floor((across / bands.scale - notes) / scene->row_pt);
    bands.rows = rows < 1 ? 1 : (uint32_t)rows;
    bands.down = (scene->row_count + bands.rows - 1) / bands.rows;
    bands.down = bands.down ? bands.down : 1;
    bands.band_pt = ruler_of(scene) + rows_pt(scene) + BETWEEN_PT;
    if (bands.down == 1 && !scene->vertical) {
        paper_bands_shrink_to_fit(scene, &bands, across);
        bands.columns_pt = along / bands.scale - scene->names_pt;
        double room = across / bands.scale - (scene->top_pt - ruler_of(scene));
        bands.others = paper_bands_count_fitting(room, bands.band_pt);
        bands.first =
            paper_bands_count_fitting(room - paper_bands_footer_height(scene), bands.band_pt);
    }
    return bands;
}

struct paper_bands paper_bands_cut(const struct scene *scene, const struct document_options *o)
{
    return o->paper_width_pt > 0                            ? on_paper(scene, o)
           : o->wrap && o->width_pt > 0 && !scene->vertical ? paper_bands_wrap_to_width(scene, o)
                                                            : one_page(scene, o);
}

#define LEAST_FILLED 0.7 /* of a band's width, unless a deadlock cycle is kept whole */

/* Returns the number of columns, from the i-th on, within a width; at least one. */
static uint32_t paper_bands_fitting(const struct scene *scene, uint32_t i, double width_pt)
{
    double left = scene->columns[i].x_pt - scene->columns[i].left_pt;
    uint32_t n = 1;
    while (i + n < scene->column_count &&
           scene->columns[i + n].x_pt + scene->columns[i + n].right_pt - left <= width_pt)
        n++;
    return n;
}

/* Returns the number of columns from least to most behind which a break cuts least: of equals, the
 * most. */
static uint32_t paper_bands_best_break(const struct scene *scene, uint32_t i, uint32_t least,
                                       uint32_t most)
{
    uint32_t best = most;
    for (uint32_t n = most; n >= least && n > 0; n--)
        if (scene->columns[i + n].break_cost < scene->columns[i + best].break_cost)
            best = n;
    return best;
}

uint32_t paper_bands_columns(const struct scene *scene, const struct paper_bands *bands, uint32_t i)
{
    if (i >= scene->column_count)
        return 0;
    uint32_t most = paper_bands_fitting(scene, i, bands->columns_pt);
    if (i + most >= scene->column_count)
        return most;
    uint32_t least = paper_bands_fitting(scene, i, bands->columns_pt * LEAST_FILLED),
             best = paper_bands_best_break(scene, i, least, most);
    return scene->columns[i + best].break_cost >= BREAK_IN_DEADLOCK
               ? paper_bands_best_break(scene, i, 1, most)
               : best;
}

uint32_t paper_bands_page(const struct scene *scene, const struct paper_bands *bands, uint32_t i,
                          bool first)
{
    uint32_t begin = i;
    for (unsigned k = 0; k < (first ? bands->first : bands->others); k++)
        i += paper_bands_columns(scene, bands, i);
    return i - begin;
}

unsigned paper_bands_pages(const struct scene *scene, const struct paper_bands *bands)
{
    unsigned pages = 0;
    uint32_t i = 0;
    if (!bands->paper)
        return 1;
    do {
        i += paper_bands_page(scene, bands, i, i == 0);
        pages++;
    } while (i < scene->column_count);
    return pages * bands->down;
}

/* ---- painting ---- */

/* Paints a part of the band's rows, moved up, and its columns moved next to the names. */
static void paint_rows(cairo_t *cr, const struct scene *scene, const struct document_options *o,
                       struct paint_part part, struct svg *svg)
{
    struct paint_theme theme = o->theme;
    struct paint_part names = part;
    names.to_pt = names.from_pt;
    cairo_save(cr);
    cairo_translate(cr, 0, -(part.first_row * scene->row_pt));
    theme.names = true;
    scene_paint(cr, scene, &theme, &names, &o->selection);
    theme.names = false;
    cairo_translate(cr, -(part.from_pt - scene->names_pt), 0);
    scene_paint(cr, scene, &theme, &part, &o->selection);
    if (svg && o->title_of)
        svg_marks(svg, cr, scene, &part, o->title_of, o->context);
    cairo_restore(cr);
}

/* Paints a band without the rows that have nothing in it: all adjacent kept rows at once. */
static void paint_kept_rows(cairo_t *cr, const struct scene *scene,
                            const struct document_options *o, const struct paper_band *band,
                            struct paint_part part, struct svg *svg)
{
    uint32_t last = part.last_row, above = 0;
    for (uint32_t row = part.first_row; row < last; row = part.last_row) {
        part.first_row = part.last_row = row;
        while (part.last_row < last && band->kept[part.last_row])
            part.last_row++;
        if (part.last_row == row) {
            part.last_row++;
            continue;
        }
        cairo_save(cr);
        cairo_translate(cr, 0, above * scene->row_pt);
        paint_rows(cr, scene, o, part, svg);
        cairo_restore(cr);
        above += part.last_row - part.first_row;
    }
}

/* Says below a band what it leaves out, and that a deadlock cycle continues. */
static void paint_band_note(cairo_t *cr, const struct scene *scene,
                            const struct document_options *o, const struct paper_band *band)
{
    struct painter p = {.cr = cr, .scene = scene, .theme = &o->theme, .alpha = 1};
    uint32_t left_out = scene->row_count - band->rows;
    double x = 0, y = scene->top_pt + band->rows * scene->row_pt;
    char text[96];
    snprintf(text, sizeof text, "%u line%s left out: nothing here", left_out,
             left_out == 1 ? "" : "s");
    if (left_out) {
        painter_color(&p, (struct target_color){0.35, 0.35, 0.35});
        painter_text(&p, x, y, text, NOTE_SIZE_PT, false);
        x += text_cache_width(NULL, text, NOTE_SIZE_PT, false) + 8;
    }
    if (band->torn) {
        painter_color(&p, PAINTER_RED);
        painter_text(&p, x, y, "the deadlock continues below", NOTE_SIZE_PT, false);
    }
}

static void paint_band(cairo_t *cr, const struct scene *scene, const struct document_options *o,
                       const struct paper_bands *bands, const struct paper_band *band,
                       struct paint_part part, struct svg *svg)
{
    part.from_pt = band->from_pt;
    part.to_pt = band->to_pt;
    if (band->kept)
        paint_kept_rows(cr, scene, o, band, part, svg);
    else
        paint_rows(cr, scene, o, part, svg);
    if (paper_band_is_noted(scene, bands, band))
        paint_band_note(cr, scene, o, band);
}

/* Paints the title at its place, and what is below the rows moved down by `by`. */
static void paint_notes(cairo_t *cr, const struct scene *scene, const struct document_options *o,
                        double by, bool legend)
{
    struct paint_part notes = {.notes = true};
    double most = 1e6;
    for (int end = 0; end < (legend ? 2 : 1); end++) {
        cairo_save(cr);
        cairo_translate(cr, 0, end ? by : 0);
        if (!scene->vertical) {
            cairo_rectangle(cr, -most, end ? scene->bottom_pt : -most, 2 * most,
                            end ? most : most + scene->top_pt);
            cairo_clip(cr);
        }
        if (!scene->vertical || !end)
            scene_paint(cr, scene, &o->theme, &notes, &o->selection);
        cairo_restore(cr);
    }
}

void paper_bands_paint(cairo_t *cr, const struct scene *scene, const struct document_options *o,
                       const struct paper_bands *bands, uint32_t i, unsigned y, struct svg *svg)
{
    struct paint_part part = {.first_row = y * bands->rows, .last_row = (y + 1) * bands->rows};
    if (part.last_row > scene->row_count)
        part.last_row = scene->row_count;
    bool first = i == 0;
    cairo_save(cr);
    cairo_translate(cr, bands->margin_pt, bands->margin_pt);
    cairo_scale(cr, bands->scale, bands->scale);
    if (scene->vertical)
        painter_rotate(cr);
    double down = 0, last = bands->band_pt;
    for (unsigned k = 0; k < (first ? bands->first : bands->others); k++) {
        if (k && i >= scene->column_count)
            break;
        struct paper_band band = paper_band_at(scene, o, bands, i);
        down += k ? last : 0;
        cairo_save(cr);
        cairo_translate(cr, 0, down);
        paint_band(cr, scene, o, bands, &band, part, svg);
        cairo_restore(cr);
        last = paper_band_height(scene, bands, &band);
        i = band.end;
        paper_band_free(&band);
    }
    down += last - bands->band_pt;
    down -= (scene->row_count - (part.last_row - part.first_row)) * scene->row_pt;
    paint_notes(cr, scene, o, down, first && y == 0);
    cairo_restore(cr);
}
