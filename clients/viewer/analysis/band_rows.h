/* State bands of threads below the diagram: a band for each row that is a thread, on the same axis.
 *
 * They come from the table of state intervals of the visible rows, so that each interval can be
 * pointed at (zoomed out: states_tab.h). A pixel is filled by the states of its thread in that
 * time, in proportion to their shares: short states remain visible, and two threads never seem to
 * run simultaneously. */
#ifndef CLIENTS_VIEWER_ANALYSIS_BAND_ROWS_H
#define CLIENTS_VIEWER_ANALYSIS_BAND_ROWS_H

#include "clients/viewer/state/notifications.h"

#include <cairo.h>
#include <gtk/gtk.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct view;

void band_rows_draw(struct view *view, cairo_t *cr, int width);
bool band_rows_are_shown(const struct view *view); /* whether the diagram is placed by time */
bool band_rows_are_busy(const struct view *view); /* whether they are requested, or about to be */
GtkWidget *band_rows_widget(struct view *view);
void band_rows_on_notification(struct view *view, enum notification what);
void band_rows_clear(struct view *view); /* another run */
/* Prints "row 3 T:main runnable 0.010 running 0.200 ...": shares of the width by state; for
 * tests. */
void band_rows_print(struct view *view, FILE *f);

/* ---- placement bands ---- */

struct placement_bands;

/* Creates the bands, which live as long as the view. changed: called when other rows were received.
 */
struct placement_bands *placement_bands_new(struct view *view, void (*changed)(void *user));
void placement_bands_request(struct placement_bands *rows, int64_t from_ns, int64_t to_ns);
/* whether they are requested */
bool placement_bands_is_pending(const struct placement_bands *rows);
void placement_bands_clear(struct placement_bands *rows); /* another run */

int placement_bands_count(const struct placement_bands *rows);
/* Draws the n-th row, which is row_px high and begins at y. */
void placement_bands_draw(const struct placement_bands *rows, cairo_t *cr, int n, double y,
                          double row_px, double band_px, int width);
/* Returns a description of the n-th row at x; NULL: empty. New memory. */
char *placement_bands_describe(const struct placement_bands *rows, int n, double x);
/* Prints "processor P0 of c0: 5 stays, 0.280 ms"; for tests. */
void placement_bands_print(const struct placement_bands *rows, FILE *f);

#endif
