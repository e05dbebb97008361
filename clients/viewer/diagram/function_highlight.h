/* Highlight of a function in the diagram: the bars of threads are tinted by the share of their time
 * in it, darker for a larger share.
 *
 * Between two events of a thread, the share is known but not the exact times: the whole interval is
 * tinted. When zoomed out, each pixel has its own share (overview_overlay.h). The function
 * belongs to the view state (view_state.h), so that the choice can be undone: its name, then, line
 * by line, options of the table (server/queries/tables/function_time.c) as "function 0:55aa", and
 * "line 3" for a thread. */
#ifndef CLIENTS_VIEWER_DIAGRAM_FUNCTION_HIGHLIGHT_H
#define CLIENTS_VIEWER_DIAGRAM_FUNCTION_HIGHLIGHT_H

#include "clients/viewer/state/notifications.h"
#include "render/scene_paint.h"
#include "wire/table_rows.h"

#include <cairo.h>
#include <stdio.h>

struct view;

/* Sets the function, NULL: none. marks: can be undone. */
void function_highlight_set(struct view *view, const char *lit, bool marks);
bool function_highlight_is_shown(const struct view *view); /* whether it is set and visible */
/* of the function; the caller frees it, allocated by GLib */
char *function_highlight_name(const struct view *view);
/* Returns the request for its shares, by "event", "time" or "order"; more: further options of the
 * request, of which it takes ownership. */
struct table_request function_highlight_request(const struct view *view, const char *by);
/* overview: for the zoomed-out view, paler; otherwise translucent over marks and lines. */
void function_highlight_fill_color(cairo_t *cr, double share, bool overview,
                                   const struct paint_theme *theme);
/* Paints the key of the tints to the right; returns where it ends. about: additional text, or
 * NULL. */
double function_highlight_key(struct view *view, cairo_t *cr, double x_px, double y_px,
                              const char *about);
void function_highlight_draw(struct view *view, cairo_t *cr, int width, int height);
void function_highlight_on_notification(struct view *view, enum notification what);
/* whether visible parts of it are still missing */
bool function_highlight_is_busy(struct view *view);
void function_highlight_clear(struct view *view); /* another run */
void function_highlight_print(struct view *view,
                              FILE *f); /* "lit 3 0.250 120 180": row, share, from, to; for tests */

#endif
