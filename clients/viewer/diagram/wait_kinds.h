/* Waits by class in the overview: the waiting part of each pixel in the colors of rendezvous,
 * contention, timeout and unattributed waits, in proportion to their shares. */
#ifndef CLIENTS_VIEWER_DIAGRAM_WAIT_KINDS_H
#define CLIENTS_VIEWER_DIAGRAM_WAIT_KINDS_H

#include <cairo.h>
#include <stdint.h>
#include <stdio.h>

struct view;

void wait_kinds_draw(struct view *view, cairo_t *cr, int height_px);
/* Returns the shares of a pixel of a row as text; the caller frees it; NULL: unknown. */
char *wait_kinds_describe(struct view *view, uint32_t row, double share_of_width);
void wait_kinds_print(struct view *view,
                      FILE *f); /* shares of whole rows, line by line; for tests */

#endif
