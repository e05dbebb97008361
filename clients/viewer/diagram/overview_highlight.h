/* The highlight of a function in the overview (function_highlight.h): the share of threads' time in
 * it. */
#ifndef CLIENTS_VIEWER_DIAGRAM_OVERVIEW_HIGHLIGHT_H
#define CLIENTS_VIEWER_DIAGRAM_OVERVIEW_HIGHLIGHT_H

#include "clients/viewer/state/notifications.h"

#include <cairo.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct view;

void overview_highlight_draw(struct view *view, cairo_t *cr, int height);
/* Returns the share of a row at a fraction of the width; negative: unknown, or not requested. */
double overview_highlight_share(struct view *view, uint32_t row, double share);
bool overview_highlight_is_running(
    struct view *view); /* whether it is requested, and nothing has arrived yet */
/* whether visible parts of it are still missing */
bool overview_highlight_is_busy(struct view *view);
void overview_highlight_on_notification(struct view *view, enum notification what);
void overview_highlight_clear(struct view *view); /* another run */
void overview_highlight_print(
    struct view *view, FILE *f); /* "lit 3 0.2500": row, share of the visible part; for tests */

#endif
