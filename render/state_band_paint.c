#include "render/state_band_paint.h"

#include "base/alloc.h"
#include "render/palette.h"
#include "render/state_band_key.h"
#include "render/scene_times.h"
#include "render/text_cache.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TICK_PT 90.0 /* minimum distance of ticks */

/* ---- colors ---- */

static void set_color(cairo_t *cr, struct target_color c)
{
    cairo_set_source_rgb(cr, c.red, c.green, c.blue);
}

static void set_ink(cairo_t *cr, const struct state_band_style *look, double light, double dark)
{
    double v = look->dark ? dark : light;
    cairo_set_source_rgb(cr, v, v, v);
}

/* ---- rows ---- */

/* What the rectangles of a row are painted on: shapes of `cr`, or an image. */
struct band_canvas {
    cairo_t *cr;
    cairo_surface_t *image; /* NULL: shapes */
    uint32_t *pixels, color;
    int words, width, height; /* words: from one row of pixels to the next */
    double x_pt, y_pt, scale; /* its corner, and pixels per point */
};

static struct band_canvas band_canvas_begin(cairo_t *cr, cairo_rectangle_t box,
                                            const struct state_band_style *look)
{
    struct band_canvas c = {
        .cr = cr, .x_pt = floor(box.x), .y_pt = floor(box.y), .scale = look->pixels_per_pt};
    if (c.scale <= 0) {
        cairo_set_antialias(cr, CAIRO_ANTIALIAS_NONE);
        return c;
    }
    c.width = (int)ceil((box.x + box.width + 1 - c.x_pt) * c.scale);
    c.height = (int)ceil((box.y + box.height + 1 - c.y_pt) * c.scale);
    c.image = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, c.width, c.height);
    c.pixels = (uint32_t *)(void *)cairo_image_surface_get_data(c.image);
    c.words = cairo_image_surface_get_stride(c.image) / (int)sizeof *c.pixels;
    return c;
}

static void band_canvas_color(struct band_canvas *c, struct target_color color)
{
    c->color = 0xff000000u | (uint32_t)lround(color.red * 255) << 16 |
               (uint32_t)lround(color.green * 255) << 8 | (uint32_t)lround(color.blue * 255);
    set_color(c->cr, color);
}

static int band_canvas_clamp(double pixel, int most)
{
    return pixel <= 0 ? 0 : pixel >= most ? most : (int)pixel;
}

/* Adds a rectangle; of an image, it fills the pixels that have their center in it. */
static void band_canvas_add(struct band_canvas *c, double x, double y, double width, double height)
{
    if (!c->image) {
        cairo_rectangle(c->cr, x, y, width, height);
        return;
    }
    int left = band_canvas_clamp(ceil((x - c->x_pt) * c->scale - 0.5), c->width),
        right = band_canvas_clamp(ceil((x + width - c->x_pt) * c->scale - 0.5), c->width),
        top = band_canvas_clamp(ceil((y - c->y_pt) * c->scale - 0.5), c->height),
        bottom = band_canvas_clamp(ceil((y + height - c->y_pt) * c->scale - 0.5), c->height);
    for (int row = c->pixels ? top : bottom; row < bottom; row++)
        for (int i = left; i < right; i++)
            c->pixels[row * c->words + i] = c->color;
}

static void band_canvas_fill(const struct band_canvas *c)
{
    if (!c->image)
        cairo_fill(c->cr);
}

static void band_canvas_end(struct band_canvas *c)
{
    if (!c->image) {
        cairo_set_antialias(c->cr, CAIRO_ANTIALIAS_DEFAULT);
        return;
    }
    cairo_surface_mark_dirty(c->image);
    cairo_surface_set_device_scale(c->image, c->scale, c->scale);
    cairo_set_source_surface(c->cr, c->image, c->x_pt, c->y_pt);
    cairo_pattern_set_filter(cairo_get_source(c->cr), CAIRO_FILTER_NEAREST);
    cairo_paint(c->cr);
    cairo_surface_destroy(c->image);
}

/* Returns the edge of a pixel of a row, rounded; none is negative. */
static double state_band_edge(const cairo_rectangle_t *box, double wide, uint32_t pixel)
{
    return (double)(int64_t)(box->x + pixel * wide + 0.5);
}

/* Fills the rectangles of one state, stacked on those of lower states; equal adjacent pixels are
 * one rectangle. */
static void paint_state(struct band_canvas *canvas, const struct state_band_cell *cells,
                        uint32_t pixels, unsigned state, cairo_rectangle_t box)
{
    double wide = box.width / pixels;
    for (uint32_t i = 0, end; i < pixels; i = end) {
        double below = 0, share = cells[i].share[state];
        for (unsigned k = 0; k < state; k++)
            below += cells[i].share[k];
        for (end = i + 1; end < pixels; end++)
            if (memcmp(cells[end].share, cells[i].share, sizeof cells[i].share) != 0)
                break;
        double x = state_band_edge(&box, wide, i), to = state_band_edge(&box, wide, end);
        if (share > 0)
            band_canvas_add(canvas, x, box.y + box.height * (1 - (below + share) / 255), to - x,
                            box.height * share / 255);
    }
    band_canvas_fill(canvas);
}

#define NAME_LEAST_PT 9.0 /* minimum height of a row's name; of lower rows only some are named */

static void state_band_paint_name(cairo_t *cr, const char *name, uint32_t row, double y,
                                  const struct state_band_style *look)
{
    unsigned every = (unsigned)ceil(NAME_LEAST_PT / look->row_pt);
    double high = every > 1 ? every * look->row_pt : look->row_pt;
    double size = high < 14 ? fmin(high - 3, 10) : 10;
    if (row % every)
        return;
    set_ink(cr, look, 0.15, 0.85);
    cairo_save(cr);
    cairo_rectangle(cr, 0, y, look->names_pt - 4, high);
    cairo_clip(cr);
    text_cache_show(cr, 8, y + high / 2 - size * 0.7, name, size, false);
    cairo_restore(cr);
}

cairo_rectangle_t state_band_row_box(double y, const struct state_band_style *look)
{
    double margin = look->row_pt < 9 ? 0.5 : look->row_pt < 20 ? 1 : 3;
    return (cairo_rectangle_t){look->names_pt, y + margin, look->width_pt,
                               look->row_pt - (margin > 2 ? 8 : 2 * margin)};
}

/* ---- what a thread waits for, and which one holds an object ---- */

#define LABEL_LEAST_PT 16.0 /* minimum height of a row with such labels */
#define LABEL_LETTERS_PT 8.5

/* Returns the state that fills the pixel if it is about a line: of a thread, waiting for it; of an
 * object, held by it; BAND_CLASSES if there is none. */
static unsigned state_band_labelled(const struct state_band_cell *cell, unsigned object)
{
    return !cell->about                                ? BAND_CLASSES
           : cell->share[BAND_WAITS] == 255            ? BAND_WAITS
           : object && cell->share[BAND_INSIDE] == 255 ? BAND_INSIDE
                                                       : BAND_CLASSES;
}

/* Returns the end of the pixels with the same label as the first one. */
static uint32_t state_band_label_end(const struct state_band_cell *cells, uint32_t pixels,
                                     uint32_t first, unsigned object)
{
    unsigned state = state_band_labelled(&cells[first], object);
    uint32_t end = first + 1;
    while (end < pixels && cells[end].about == cells[first].about &&
           state_band_labelled(&cells[end], object) == state)
        end++;
    return end;
}

/* Writes a label over each stretch of pixels that is wide enough for it. */
static void state_band_paint_labels(cairo_t *cr, const struct state_band_cell *cells,
                                    uint32_t pixels, const struct trace_metadata *book,
                                    unsigned object, cairo_rectangle_t box)
{
    double wide = box.width / pixels;
    const char *words = object == BAND_KEY_LOCKS ? "held by" : object ? "in use by" : "waits for";
    for (uint32_t i = 0, end; i < pixels; i = end) {
        end = state_band_label_end(cells, pixels, i, object);
        if (state_band_labelled(&cells[i], object) == BAND_CLASSES)
            continue;
        char *text = xasprintf("%s %s", words, metadata_label(book, cells[i].about));
        if (text_cache_width(NULL, text, LABEL_LETTERS_PT, false) + 10 < (end - i) * wide) {
            cairo_set_source_rgb(cr, 0.15, 0.12, 0);
            text_cache_show(cr, state_band_edge(&box, wide, i) + 5, floor(box.y + 2), text,
                            LABEL_LETTERS_PT, false);
        }
        free(text);
    }
}

void state_band_paint_row(cairo_t *cr, const struct state_bands *s,
                          const struct trace_metadata *book, uint32_t row, double y,
                          const struct state_band_style *look)
{
    cairo_rectangle_t box = state_band_row_box(y, look);
    cairo_set_source_rgba(cr, 0.5, 0.5, 0.5, 0.4);
    cairo_rectangle(cr, box.x, box.y + box.height, box.width, 1);
    cairo_fill(cr);
    struct band_canvas canvas = band_canvas_begin(cr, box, look);
    for (unsigned state = 0; state < BAND_CLASSES; state++) {
        band_canvas_color(&canvas, palette_color(state_band_palette_state(state), look->grey));
        paint_state(&canvas, s->cells + (size_t)row * s->pixels, s->pixels, state, box);
    }
    band_canvas_end(&canvas);
    if (book && box.height >= LABEL_LEAST_PT)
        state_band_paint_labels(cr, s->cells + (size_t)row * s->pixels, s->pixels, book,
                                state_band_key_object(book, s->rows[row]), box);
    state_band_paint_name(cr, look->name ? look->name : metadata_label(book, s->rows[row]), row, y,
                          look);
}

/* ---- measured states ---- */

/* Of time that is running by the order alone: values of enum band_thread_state. */
static const uint8_t state_band_measured[] = {BAND_LIVING_READY, BAND_LIVING_SYSTEM,
                                              BAND_LIVING_START};
#define MEASURED_STATES (sizeof state_band_measured / sizeof *state_band_measured)

/* Returns below which share of a pixel they end, of 255: above what was running. */
static unsigned state_band_measured_top(const struct state_band_cell *cell,
                                        const struct state_band_cell *measured)
{
    unsigned off = 0, runs = cell->share[BAND_RUNS], most = runs + cell->share[BAND_INSIDE];
    for (unsigned i = 0; i < MEASURED_STATES; i++)
        off += measured->share[state_band_measured[i]];
    return off <= runs ? runs : off < most ? off : most;
}

static void paint_measured_state(struct band_canvas *canvas, const struct state_band_cell *cells,
                                 const struct state_band_cell *measured, uint32_t pixels,
                                 unsigned state, cairo_rectangle_t box)
{
    double wide = box.width / pixels;
    for (uint32_t i = 0; i < pixels; i++) {
        int top = (int)state_band_measured_top(&cells[i], &measured[i]);
        for (unsigned k = 0; k < state; k++)
            top -= measured[i].share[state_band_measured[k]];
        int share = measured[i].share[state_band_measured[state]];
        share = share < top ? share : top;
        double x = state_band_edge(&box, wide, i), to = state_band_edge(&box, wide, i + 1);
        if (share > 0)
            band_canvas_add(canvas, x, box.y + box.height * (1 - top / 255.0), to - x,
                            box.height * share / 255);
    }
    band_canvas_fill(canvas);
}

/* Fills what the order calls empty, above the other states, for a thread that was created and has
 * not started. */
static void state_band_paint_created(struct band_canvas *canvas,
                                     const struct state_band_cell *cells,
                                     const struct state_band_cell *measured, uint32_t pixels,
                                     cairo_rectangle_t box)
{
    double wide = box.width / pixels;
    for (uint32_t i = 0; i < pixels; i++) {
        int empty = 255, share = measured[i].share[BAND_LIVING_START];
        for (unsigned k = 0; k < BAND_CLASSES; k++)
            empty -= cells[i].share[k];
        share = share < empty ? share : empty;
        double x = state_band_edge(&box, wide, i), to = state_band_edge(&box, wide, i + 1);
        if (share > 0)
            band_canvas_add(canvas, x, box.y + box.height * (empty - share) / 255, to - x,
                            box.height * share / 255);
    }
    band_canvas_fill(canvas);
}

void state_band_paint_measured(cairo_t *cr, const struct state_band_cell *cells,
                               const struct state_band_cell *measured, uint32_t pixels, double y,
                               const struct state_band_style *look)
{
    cairo_rectangle_t box = state_band_row_box(y, look);
    struct band_canvas canvas = band_canvas_begin(cr, box, look);
    for (unsigned i = 0; i < MEASURED_STATES; i++) {
        band_canvas_color(
            &canvas, palette_color(band_thread_state_code(state_band_measured[i]), look->grey));
        paint_measured_state(&canvas, cells, measured, pixels, i, box);
    }
    band_canvas_color(&canvas, palette_color(THREAD_STATE_CREATED, look->grey));
    state_band_paint_created(&canvas, cells, measured, pixels, box);
    band_canvas_end(&canvas);
}

/* ---- the ruler ---- */

static void name_tick(const struct state_bands *s, int64_t at, int64_t step,
                      struct state_band_tick *tick)
{
    tick->share = (double)(at - s->from) / (double)(s->to - s->from);
    if (s->by_time)
        time_columns_print(at, step, tick->text, sizeof tick->text);
    else
        snprintf(tick->text, sizeof tick->text, "%lld", (long long)at);
}

struct state_band_tick *state_band_ticks(const struct state_bands *s, double width, uint32_t *count)
{
    *count = 0;
    if (s->to <= s->from || width < TICK_PT)
        return NULL;
    int64_t step = time_columns_round((int64_t)((double)(s->to - s->from) * TICK_PT / width) + 1);
    int64_t at = s->from - s->from % step;
    struct state_band_tick *ticks = xcalloc((size_t)(width / TICK_PT) + 3, sizeof *ticks);
    for (at = at < s->from ? at + step : at; at < s->to && *count < width / TICK_PT + 2; at += step)
        name_tick(s, at, step, &ticks[(*count)++]);
    return ticks;
}

void state_band_paint_ruler(cairo_t *cr, const struct state_bands *s, double y,
                            const struct state_band_style *look)
{
    uint32_t count;
    struct state_band_tick *ticks = state_band_ticks(s, look->width_pt, &count);
    set_ink(cr, look, 0.35, 0.7);
    if (!s->by_time)
        text_cache_show(cr, 8, y + 3, "events", 8, false);
    for (uint32_t i = 0; i < count; i++) {
        double x = floor(look->names_pt + ticks[i].share * look->width_pt);
        cairo_rectangle(cr, x, y + 2, 1, STRIP_RULER_PT - 3);
        cairo_fill(cr);
        if (x + 4 + text_cache_width(NULL, ticks[i].text, 8, false) <=
            look->names_pt + look->width_pt)
            text_cache_show(cr, x + 4, y + 3, ticks[i].text, 8, false);
    }
    free(ticks);
}
