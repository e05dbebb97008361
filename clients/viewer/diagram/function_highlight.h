/* How much of their time threads were in a function, over the picture: their bars are tinted, the
 * darker the more.
 *
 * Between two events of a thread it is known how long it was in what, not when: a tint is of all of
 * the stretch.  From far away each pixel has its own (overview_highlight.h).  Which function it is
 * belongs to the place (view_state.h), so that it can be undone:  its name, then, a line each,
 * options of the table (server/queries/tables/function_paths.h) as "function 0:55aa", and "line 3"
 * for a thread. */
#ifndef CLIENTS_VIEWER_DIAGRAM_FUNCTION_HIGHLIGHT_H
#define CLIENTS_VIEWER_DIAGRAM_FUNCTION_HIGHLIGHT_H

#include "clients/viewer/state/notifications.h"
#include "render/scene_paint.h"
#include "wire/table_rows.h"

#include <cairo.h>
#include <stdio.h>

struct view;

/* Another function, or none: NULL.  marks: what was before can be had back. */
void function_highlight_set(struct view *view, const char *lit, bool marks);
bool function_highlight_is_shown(const struct view *view); /* is anything, and is it to be seen? */
char *
function_highlight_name(const struct view *view); /* of the function; the caller's, of GLib's */
/* Asks for its shares, by "event", "time" or "order"; more: further options of the request, taken
 * over. */
struct table_request function_highlight_request(const struct view *view, const char *by);
/* far: over strips, which are paler then; else marks and lines are to be seen through it. */
void function_highlight_fill_color(cairo_t *cr, double share, bool far,
                                   const struct paint_theme *theme);
/* What the tints stand for, from there to the right; returns where it ends.  about: what is to be
 * said besides, or NULL. */
double function_highlight_key(struct view *view, cairo_t *cr, double x_px, double y_px,
                              const char *about);
void function_highlight_draw(struct view *view, cairo_t *cr, int width, int height);
void function_highlight_on_notification(struct view *view, enum notification news);
bool function_highlight_is_busy(struct view *view); /* is what is seen of it not here yet? */
void function_highlight_clear(struct view *view); /* another run */
void function_highlight_print(struct view *view,
                              FILE *f); /* "lit 3 0.250 120 180": row, share, from, to; for tests */

#endif
