/* Event densities: the number of events in each pixel of each row, requested and painted; for
 * overview.c and overview_map.c. */
#ifndef CLIENTS_VIEWER_DIAGRAM_EVENT_DENSITY_H
#define CLIENTS_VIEWER_DIAGRAM_EVENT_DENSITY_H

#include "clients/metadata/trace_metadata.h"
#include "clients/viewer/state/request_slot.h"
#include "wire/request_body.h"
#include "wire/layout_results.h"
#include "wire/trace_view.h"

#include <cairo.h>

struct view;

/* Returns false if the part contains none. */
bool event_density_read(const struct response_chunk *answer, struct density_info *density);
/* Gets the lines; the caller frees rows and joined, unless event_density_request does. Returns
 * false if there are none yet. */
bool event_density_rows(struct view *view, struct window_request *rows);
/* Requests a density of these rows, which it frees. */
void event_density_request(struct view *view, struct request_slot *inquiry,
                           struct density_request *request, struct window_request *rows,
                           source_take *take);
/* Returns the fraction at which a position, or a time, is: 0 to 1, or outside. */
double event_density_share(const struct density_info *density, double at);
struct target_color event_density_color(const struct trace_metadata *book, uint32_t line);
/* Paints one row as a band, one image pixel for each pixel of the density. */
void event_density_paint(cairo_t *cr, const struct density_info *density, uint32_t row,
                         struct target_color color, bool dark, double x_px, double y_px,
                         double width_px, double height_px);

#endif
