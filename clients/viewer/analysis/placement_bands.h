/* Placement bands: the tasks on each worker thread, below the bands of threads, on the same axis.
 *
 * Intervals narrower than a pixel are drawn as a share of it. */
#ifndef CLIENTS_VIEWER_ANALYSIS_PLACEMENT_BANDS_H
#define CLIENTS_VIEWER_ANALYSIS_PLACEMENT_BANDS_H

#include <cairo.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct view;
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
