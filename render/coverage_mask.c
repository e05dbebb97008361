#include "render/coverage_mask.h"

#include <math.h>
#include <stddef.h>

struct coverage_mask coverage_mask_new(cairo_rectangle_t area, double scale)
{
    struct coverage_mask mask = {.x = floor(area.x), .y = floor(area.y), .scale = scale};
    mask.width = (int)ceil((area.x + area.width - mask.x) * scale);
    mask.height = (int)ceil((area.y + area.height - mask.y) * scale);
    mask.surface = cairo_image_surface_create(CAIRO_FORMAT_A8, mask.width, mask.height);
    mask.bytes = cairo_image_surface_get_data(mask.surface);
    mask.stride = cairo_image_surface_get_stride(mask.surface);
    return mask;
}

/* A range of pixels in one direction: those before `from` and after `to` are not covered, and the
 * first and the last one in part. */
struct coverage_span {
    int first, end;
    double from, to;
};

static struct coverage_span coverage_mask_span(double from, double to, int most)
{
    from = from > 0 ? from : 0;
    to = to < most ? to : most;
    return from < to ? (struct coverage_span){(int)from, (int)ceil(to), from, to}
                     : (struct coverage_span){0, 0, 0, 0};
}

/* Returns how much of a pixel of a span is covered, of 255. */
static unsigned coverage_mask_part(const struct coverage_span *span, int pixel)
{
    double from = span->from > pixel ? span->from : pixel,
           to = span->to < pixel + 1 ? span->to : pixel + 1;
    return (unsigned)lround((to - from) * 255);
}

void coverage_mask_add(struct coverage_mask *mask, cairo_rectangle_t box)
{
    double left = (box.x - mask->x) * mask->scale, top = (box.y - mask->y) * mask->scale;
    struct coverage_span columns =
                             coverage_mask_span(left, left + box.width * mask->scale, mask->width),
                         rows =
                             coverage_mask_span(top, top + box.height * mask->scale, mask->height);
    for (int x = columns.first; mask->bytes && x < columns.end; x++) {
        unsigned wide = coverage_mask_part(&columns, x);
        uint8_t *pixel = mask->bytes + (long)rows.first * mask->stride + x;
        for (int y = rows.first; y < rows.end; y++, pixel += mask->stride) {
            bool whole = y > rows.first && y + 1 < rows.end;
            unsigned all = *pixel + (whole ? wide : wide * coverage_mask_part(&rows, y) / 255);
            *pixel = (uint8_t)(all < 255 ? all : 255);
        }
    }
}

void coverage_mask_paint(struct coverage_mask *mask, cairo_t *cr)
{
    cairo_surface_mark_dirty(mask->surface);
    cairo_surface_set_device_scale(mask->surface, mask->scale, mask->scale);
    if (mask->bytes && cr)
        cairo_mask_surface(cr, mask->surface, mask->x, mask->y);
    cairo_surface_destroy(mask->surface);
    *mask = (struct coverage_mask){.surface = NULL};
}
