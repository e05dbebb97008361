/* How much of their time threads were in a function, over the strips of a run from far away
 * (function_highlight.h). */
#ifndef CLIENTS_VIEWER_DIAGRAM_OVERVIEW_HIGHLIGHT_H
#define CLIENTS_VIEWER_DIAGRAM_OVERVIEW_HIGHLIGHT_H

#include "clients/viewer/state/notifications.h"

#include <cairo.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct view;

void overview_highlight_draw(struct view *view, cairo_t *cr, int height);
/* Of a row at a share of the width; negative: not known, or not asked for. */
double overview_highlight_share(struct view *view, uint32_t row, double share);
bool overview_highlight_is_running(
    struct view *view); /* is it looked for, with nothing here yet? */
bool overview_highlight_is_busy(struct view *view); /* is what is seen of it not here yet? */
void overview_highlight_on_notification(struct view *view, enum notification news);
void overview_highlight_clear(struct view *view); /* another run */
void overview_highlight_print(
    struct view *view, FILE *f); /* "lit 3 0.2500": row, share of all that is seen; for tests */

#endif
