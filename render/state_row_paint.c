#include "render/state_row_paint.h"

#include "base/alloc.h"
#include "render/palette.h"
#include "render/state_chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns whether two pixels look the same. */
static bool state_row_same_pixels(const float *shares, int one, int other)
{
    return memcmp(shares + (size_t)one * THREAD_STATES_DRAWN,
                  shares + (size_t)other * THREAD_STATES_DRAWN,
                  THREAD_STATES_DRAWN * sizeof *shares) == 0;
}

static void state_row_fill_state(cairo_t *cr, unsigned state, double x, double y, double wide,
                                 double high, bool grey)
{
    cairo_rectangle(cr, x, y, wide, high);
    palette_fill(cr, state, grey, (cairo_rectangle_t){x, y, wide, high});
}

/* Adds the rectangles of a state to the path of `cr`, or fills them if it is hatched. */
static void state_row_paint_state(cairo_t *cr, const float *seen, int count, unsigned state,
                                  cairo_rectangle_t box, bool grey)
{
    double wide = box.width / count;
    bool hatched = palette_is_hatched(state, grey);
    for (int i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && state_row_same_pixels(seen, i, end);)
            end++;
        const float *shares = seen + (size_t)i * THREAD_STATES_DRAWN;
        double x = round(box.x + i * wide), y = box.y;
        if (shares[state] <= 0)
            continue;
        for (unsigned k = 0; k < state; k++)
            y += (double)shares[k] * box.height;
        cairo_rectangle_t part = {x, y, round(box.x + end * wide) - x,
                                  (double)shares[state] * box.height};
        if (hatched)
            state_row_fill_state(cr, state, part.x, part.y, part.width, part.height, grey);
        else
            cairo_rectangle(cr, part.x, part.y, part.width, part.height);
    }
    if (!hatched)
        palette_fill(cr, state, grey, box);
}

/* ---- rows as images ---- */

#define IMAGE_ROWS_MOST 128

/* An image of a row; (x, y) is its corner, in units. */
struct state_row_image {
    cairo_surface_t *surface;
    uint32_t *pixels;
    int words, width, height; /* words: from one row of pixels to the next */
    double x, y, scale;
    uint32_t colors[THREAD_STATES_DRAWN]; /* 0: the state is hatched, and is not in the image */
};

/* Returns false if the row is too high, or there is no memory. */
static bool state_row_image_begin(struct state_row_image *image, cairo_rectangle_t box,
                                  struct state_row_style style)
{
    double x = floor(box.x), y = floor(box.y);
    int width = (int)ceil((box.x + box.width + 1 - x) * style.scale),
        height = (int)ceil((box.y + box.height - y) * style.scale);
    if (style.scale <= 0 || height > IMAGE_ROWS_MOST)
        return false;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
    *image = (struct state_row_image){.surface = surface,
                                      .pixels = (void *)cairo_image_surface_get_data(surface),
                                      .words = cairo_image_surface_get_stride(surface) / 4,
                                      .width = width,
                                      .height = height,
                                      .x = x,
                                      .y = y,
                                      .scale = style.scale};
    for (unsigned i = 0; i < THREAD_STATES_DRAWN; i++) {
        struct target_color c = palette_color(i, style.grey);
        if (!palette_is_hatched(i, style.grey))
            image->colors[i] = 0xff000000u | (uint32_t)lround(c.red * 255) << 16 |
                               (uint32_t)lround(c.green * 255) << 8 |
                               (uint32_t)lround(c.blue * 255);
    }
    if (!image->pixels)
        cairo_surface_destroy(surface);
    return image->pixels != NULL;
}

/* Returns a color that covers a part of a pixel, of 256. */
static uint32_t state_row_image_cover(uint32_t color, uint32_t part)
{
    uint32_t even = (color & 0xff00ffu) * part >> 8 & 0xff00ffu,
             odd = (color >> 8 & 0xff00ffu) * part & 0xff00ff00u;
    return even | odd;
}

/* Adds a state to a column, between two edges in pixels; pixels at the edges are covered in
 * part. */
static void state_row_image_add(uint32_t *column, int height, uint32_t color, float top,
                                float bottom)
{
    int first = top > 0 ? (int)top : 0, end = (int)bottom < height ? (int)bottom : height;
    float above = top - (float)first, below = bottom - (float)end;
    if (first >= end) {
        if (first < height)
            column[first] += state_row_image_cover(color, (uint32_t)((bottom - top) * 256));
        return;
    }
    column[first] += state_row_image_cover(color, (uint32_t)((1 - above) * 256));
    for (int i = first + 1; i < end; i++)
        column[i] = color;
    if (end < height)
        column[end] += state_row_image_cover(color, (uint32_t)(below * 256));
}

/* Fills the columns from one edge to another with the states of a pixel. */
static void state_row_image_fill(const struct state_row_image *image, const float *shares,
                                 cairo_rectangle_t box, int left, int right)
{
    uint32_t column[IMAGE_ROWS_MOST] = {0};
    float top = (float)((box.y - image->y) * image->scale),
          high = (float)(box.height * image->scale);
    for (unsigned k = 0; k < THREAD_STATES_DRAWN; k++) {
        float bottom = fminf(top + shares[k] * high, (float)image->height);
        if (shares[k] > 0 && image->colors[k])
            state_row_image_add(column, image->height, image->colors[k], top, bottom);
        top = bottom;
    }
    for (int row = 0; row < image->height; row++)
        for (int i = left; i < right; i++)
            image->pixels[row * image->words + i] = column[row];
}

static void state_row_image_paint(cairo_t *cr, struct state_row_image *image, const float *seen,
                                  int count, cairo_rectangle_t box)
{
    double wide = box.width / count;
    for (int i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && state_row_same_pixels(seen, i, end);)
            end++;
        int left = (int)((round(box.x + i * wide) - image->x) * image->scale),
            right = (int)((round(box.x + end * wide) - image->x) * image->scale);
        state_row_image_fill(image, seen + (size_t)i * THREAD_STATES_DRAWN, box, left,
                             right < image->width ? right : image->width);
    }
    cairo_surface_mark_dirty(image->surface);
    cairo_surface_set_device_scale(image->surface, image->scale, image->scale);
    cairo_set_source_surface(cr, image->surface, image->x, image->y);
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
    cairo_paint(cr);
    cairo_surface_destroy(image->surface);
}

/* One path for each state, or one image: GTK records what is drawn, and draws it again. */
void state_row_paint(cairo_t *cr, const float *shares, int count, cairo_rectangle_t box,
                     struct state_row_style style)
{
    struct state_row_image image = {.surface = NULL};
    if (count <= 0)
        return;
    size_t size = (size_t)count * THREAD_STATES_DRAWN * sizeof *shares;
    float *seen = memcpy(xmalloc(size), shares, size);
    for (int i = 0; i < count; i++)
        state_shares_visible(seen + (size_t)i * THREAD_STATES_DRAWN, (float)(1 / box.height));
    bool painted = state_row_image_begin(&image, box, style);
    if (painted)
        state_row_image_paint(cr, &image, seen, count, box);
    for (unsigned state = 0; state < THREAD_STATES_DRAWN; state++)
        if (!painted || !image.colors[state])
            state_row_paint_state(cr, seen, count, state, box, style.grey);
    free(seen);
}
