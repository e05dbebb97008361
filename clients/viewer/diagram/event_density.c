#include "clients/viewer/diagram/event_density.h"

#include "clients/connection/view_state.h"
#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/diagram/row_requests.h"
#include "clients/viewer/diagram/viewer.h"
#include "render/scene_paint.h"
#include "wire/layout_results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double event_density_share(const struct density_info *d, double at)
{
    return d->to > d->from ? (at - (double)d->from) / (double)(d->to - d->from) : 0;
}

static void event_density_set_pixel(unsigned char *pixel, uint32_t count, uint32_t most,
                                    struct target_color c, bool dark)
{
    double v = 0.2 + 0.8 * log(1.0 + count) / log(1.0 + most), ground = painter_brightness(dark);
    pixel[0] = (unsigned char)(255 * (ground + (c.blue - ground) * v));
    pixel[1] = (unsigned char)(255 * (ground + (c.green - ground) * v));
    pixel[2] = (unsigned char)(255 * (ground + (c.red - ground) * v));
}

void event_density_paint(cairo_t *cr, const struct density_info *d, uint32_t row,
                         struct target_color c, bool dark, double x, double y, double width,
                         double height)
{
    int stride = cairo_format_stride_for_width(CAIRO_FORMAT_RGB24, (int)d->pixels);
    unsigned char *data = g_malloc((gsize)stride);
    const uint32_t *counts = d->counts + (size_t)row * d->pixels;
    uint32_t most = 1;
    for (uint32_t i = 0; i < d->pixels; i++)
        most = MAX(most, counts[i]);
    memset(data, dark ? 33 : 255, (size_t)stride);
    for (uint32_t i = 0; i < d->pixels; i++)
        if (counts[i])
            event_density_set_pixel(data + 4 * i, counts[i], most, c, dark);
    cairo_surface_t *image =
        cairo_image_surface_create_for_data(data, CAIRO_FORMAT_RGB24, (int)d->pixels, 1, stride);
    cairo_save(cr);
    cairo_translate(cr, x, y);
    cairo_scale(cr, width / d->pixels, height);
    cairo_set_source_surface(cr, image, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(cr), CAIRO_FILTER_NEAREST);
    cairo_rectangle(cr, 0, 0, d->pixels, 1);
    cairo_fill(cr);
    cairo_restore(cr);
    cairo_surface_destroy(image);
    g_free(data);
}

struct target_color event_density_color(const struct trace_metadata *book, uint32_t line)
{
    const struct target_line_type *kind = metadata_line_type(book, line);
    return kind ? kind->color : (struct target_color){0.35, 0.35, 0.35};
}

bool event_density_read(const struct response_chunk *answer, struct density_info *density)
{
    if (answer->part != RESPONSE_DENSITY)
        return false;
    decode_density(answer->in, density);
    if (decoder_finish(answer->in))
        return true;
    density_info_free(density);
    return false;
}

bool event_density_rows(struct view *view, struct window_request *rows)
{
    view_state_request(&view->viewport.place, rows);
    if (row_requests_for_density(view, rows))
        return true;
    free(rows->rows);
    free(rows->joined);
    return false;
}

void event_density_request(struct view *view, struct request_slot *inquiry,
                           struct density_request *request, struct window_request *rows,
                           source_take *take)
{
    struct encoder body = {0};
    request->by_time = view->viewport.place.column_ns > 0;
    request->rows = rows->rows;
    request->joined = rows->joined;
    request->row_count = rows->row_count;
    encode_density_request(&body, request);
    free(rows->rows);
    free(rows->joined);
    request_slot_send(&view->server_link, inquiry, REQUEST_DENSITY, &body, take, view);
}
