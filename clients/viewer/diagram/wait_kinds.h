/* Waiting by kind from far away: what threads waited of each pixel, in the colours of meetings,
 * exclusion, the clock and what nothing explains, as high as their shares; over the part of the
 * strips that waits. */
#ifndef CLIENTS_VIEWER_DIAGRAM_WAIT_KINDS_H
#define CLIENTS_VIEWER_DIAGRAM_WAIT_KINDS_H

#include <cairo.h>
#include <stdint.h>
#include <stdio.h>

struct view;

void wait_kinds_draw(struct view *view, cairo_t *cr, int height_px);
/* ", by exclusion 30 %": of a pixel of a row; the caller's; NULL: nothing is known of it. */
char *wait_kinds_describe(struct view *view, uint32_t row, double share_of_width);
void wait_kinds_print(struct view *view,
                      FILE *f); /* shares of whole rows, a line each; for tests */

#endif
