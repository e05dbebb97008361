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
    uint32_t *pixels;
    int words, width, height; /* words: from one row of pixels to the next */
    double x_pt, y_pt, scale; /* its corner, and pixels per point */
    int edges[256]; /* of an image: the row of pixels above which a share of a pixel ends */
};

static int band_canvas_clamp(double pixel, int most)
{
    return pixel <= 0 ? 0 : pixel >= most ? most : (int)pixel;
}

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
    for (int share = 0; share < 256; share++)
        c.edges[share] = band_canvas_clamp(
            ceil((box.y + box.height * (1 - share / 255.0) - c.y_pt) * c.scale - 0.5), c.height);
    return c;
}

static uint32_t band_canvas_color(struct target_color color)
{
    return 0xff000000u | (uint32_t)lround(color.red * 255) << 16 |
           (uint32_t)lround(color.green * 255) << 8 | (uint32_t)lround(color.blue * 255);
}

/* Equal adjacent pixels of a row: where they begin and end, and, of an image, its first pixel that
 * has its center in them and the first one after them. */
struct band_run {
    double x, to;
    int left, right;
};

static struct band_run band_canvas_run(const struct band_canvas *c, double x, double to)
{
    struct band_run run = {.x = x, .to = to};
    if (!c->image)
        return run;
    run.left = band_canvas_clamp(ceil((x - c->x_pt) * c->scale - 0.5), c->width);
    run.right = band_canvas_clamp(ceil((to - c->x_pt) * c->scale - 0.5), c->width);
    return run;
}

/* A part of the height of a row, of 255, counted from its bottom. */
struct band_part {
    int below, above;
};

/* Adds a rectangle; of an image, it fills the pixels that have their center in it. */
static void band_canvas_add(const struct band_canvas *c, const struct band_run *run,
                            struct band_part part, uint32_t color, cairo_rectangle_t box)
{
    if (!c->image) {
        cairo_rectangle(c->cr, run->x, box.y + box.height * (1 - part.above / 255.0),
                        run->to - run->x, box.height * (part.above - part.below) / 255);
        return;
    }
    int bottom = c->pixels ? c->edges[part.below] : 0;
    for (int row = c->edges[part.above]; row < bottom; row++)
        for (int i = run->left; i < run->right; i++)
            c->pixels[row * c->words + i] = color;
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

/* ---- parts of pixels ---- */

/* What is painted: cells of a row, and their measured states if these are painted instead. */
struct band_source {
    const struct state_band_cell *cells, *measured;
    uint32_t pixels;
    bool grey;
};

/* Returns the part of a pixel that a state takes, stacked on lower states. */
static struct band_part state_band_part(const struct state_band_cell *cell, unsigned state)
{
    int below = 0;
    for (unsigned k = 0; k < state; k++)
        below += cell->share[k];
    return (struct band_part){below, below + cell->share[state]};
}

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

/* Returns the part of a pixel that a measured state takes, in place of what was running. */
static struct band_part state_band_measured_part(const struct state_band_cell *cell,
                                                 const struct state_band_cell *measured,
                                                 unsigned state)
{
    int top = (int)state_band_measured_top(cell, measured);
    for (unsigned k = 0; k < state; k++)
        top -= measured->share[state_band_measured[k]];
    int share = measured->share[state_band_measured[state]];
    share = share < top ? share : top;
    return (struct band_part){top - share, top};
}

/* Returns the part that the order calls empty, above the other states, for a thread that was
 * created and has not started. */
static struct band_part state_band_created_part(const struct state_band_cell *cell,
                                                const struct state_band_cell *measured)
{
    int states = 0, share = measured->share[BAND_LIVING_START];
    for (unsigned k = 0; k < BAND_CLASSES; k++)
        states += cell->share[k];
    share = share < 255 - states ? share : 255 - states;
    return (struct band_part){states, states + share};
}

static unsigned state_band_source_states(const struct band_source *s)
{
    return s->measured ? MEASURED_STATES + 1 : BAND_CLASSES;
}

static struct target_color state_band_source_color(const struct band_source *s, unsigned state)
{
    return !s->measured ? palette_color(state_band_palette_state(state), s->grey)
           : state == MEASURED_STATES
               ? palette_color(THREAD_STATE_CREATED, s->grey)
               : palette_color(band_thread_state_code(state_band_measured[state]), s->grey);
}

static struct band_part state_band_source_part(const struct band_source *s, uint32_t i,
                                               unsigned state)
{
    struct band_part part = !s->measured ? state_band_part(&s->cells[i], state)
                            : state == MEASURED_STATES
                                ? state_band_created_part(&s->cells[i], &s->measured[i])
                                : state_band_measured_part(&s->cells[i], &s->measured[i], state);
    part.above = part.above < 255 ? part.above : 255; /* (shares of a file can be too large) */
    return part;
}

/* Returns the end of the pixels from i on that look the same. */
static uint32_t state_band_source_same(const struct band_source *s, uint32_t i)
{
    uint32_t end = i + 1;
    while (end < s->pixels &&
           memcmp(s->cells[end].share, s->cells[i].share, sizeof s->cells[i].share) == 0 &&
           (!s->measured ||
            memcmp(s->measured[end].share, s->measured[i].share, sizeof s->measured[i].share) == 0))
        end++;
    return end;
}

/* ---- painting ---- */

static struct band_run state_band_run(const struct band_canvas *canvas, const struct band_source *s,
                                      uint32_t first, uint32_t end, const cairo_rectangle_t *box)
{
    double wide = box->width / s->pixels;
    return band_canvas_run(canvas, state_band_edge(box, wide, first),
                           state_band_edge(box, wide, end));
}

static void state_band_paint_image(const struct band_canvas *canvas, const struct band_source *s,
                                   cairo_rectangle_t box)
{
    uint32_t colors[BAND_MOST];
    unsigned states = state_band_source_states(s);
    for (unsigned state = 0; state < states; state++)
        colors[state] = band_canvas_color(state_band_source_color(s, state));
    for (uint32_t i = 0, end; i < s->pixels; i = end) {
        end = state_band_source_same(s, i);
        struct band_run run = state_band_run(canvas, s, i, end, &box);
        for (unsigned state = 0; state < states; state++) {
            struct band_part part = state_band_source_part(s, i, state);
            if (part.above > part.below)
                band_canvas_add(canvas, &run, part, colors[state], box);
        }
    }
}

/* One path for each state. */
static void state_band_paint_shapes(const struct band_canvas *canvas, const struct band_source *s,
                                    cairo_rectangle_t box)
{
    for (unsigned state = 0; state < state_band_source_states(s); state++) {
        set_color(canvas->cr, state_band_source_color(s, state));
        for (uint32_t i = 0, end; i < s->pixels; i = end) {
            end = state_band_source_same(s, i);
            struct band_run run = state_band_run(canvas, s, i, end, &box);
            struct band_part part = state_band_source_part(s, i, state);
            if (part.above > part.below)
                band_canvas_add(canvas, &run, part, 0, box);
        }
        cairo_fill(canvas->cr);
    }
}

static void state_band_paint_source(cairo_t *cr, const struct band_source *s, cairo_rectangle_t box,
                                    const struct state_band_style *look)
{
    struct band_canvas canvas = band_canvas_begin(cr, box, look);
    if (canvas.image)
        state_band_paint_image(&canvas, s, box);
    else
        state_band_paint_shapes(&canvas, s, box);
    band_canvas_end(&canvas);
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
    state_band_paint_source(cr,
                            &(struct band_source){.cells = s->cells + (size_t)row * s->pixels,
                                                  .pixels = s->pixels,
                                                  .grey = look->grey},
                            box, look);
    if (book && box.height >= LABEL_LEAST_PT)
        state_band_paint_labels(cr, s->cells + (size_t)row * s->pixels, s->pixels, book,
                                state_band_key_object(book, s->rows[row]), box);
    state_band_paint_name(cr, look->name ? look->name : metadata_label(book, s->rows[row]), row, y,
                          look);
}

void state_band_paint_measured(cairo_t *cr, const struct state_band_cell *cells,
                               const struct state_band_cell *measured, uint32_t pixels, double y,
                               const struct state_band_style *look)
{
    state_band_paint_source(cr, &(struct band_source){cells, measured, pixels, look->grey},
                            state_band_row_box(y, look), look);
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
