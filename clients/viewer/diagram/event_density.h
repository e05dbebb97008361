/* How many events there are in each pixel of each row: asked for, and painted.  For overview.c and
 * map.c. */
#ifndef CLIENTS_VIEWER_DIAGRAM_EVENT_DENSITY_H
#define CLIENTS_VIEWER_DIAGRAM_EVENT_DENSITY_H

#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/state/request_slot.h"
#include "wire/request_body.h"
#include "wire/layout_results.h"
#include "wire/trace_view.h"

#include <cairo.h>

struct view;

/* False: none is in this part. */
bool event_density_read(const struct response_chunk *answer, struct density_info *density);
/* Of which lines; the caller frees rows and joined, or event_density_request does.  False: there
 * are none yet. */
bool event_density_rows(struct view *view, struct window_request *rows);
/* Asks for a density of these rows, which it frees. */
void event_density_request(struct view *view, struct request_slot *inquiry,
                           struct density_request *request, struct window_request *rows,
                           source_take *take);
/* Where in it a position, or a time, is: from 0 to 1, less or more outside. */
double event_density_share(const struct density_info *density, double at);
struct target_color event_density_colour(const struct trace_metadata *book, uint32_t line);
/* One row as a strip, a pixel of an image for each of the density. */
void event_density_paint(cairo_t *cr, const struct density_info *density, uint32_t row,
                         struct target_color colour, bool dark, double x_px, double y_px,
                         double width_px, double height_px);

#endif
