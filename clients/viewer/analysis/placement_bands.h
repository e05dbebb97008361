/* Which task was on which thread of the system, below the bands of threads: a row for each of
 * those, on the same axis.
 *
 * What is narrower than a pixel is told as a share of it. */
#ifndef CLIENTS_VIEWER_ANALYSIS_PLACEMENT_BANDS_H
#define CLIENTS_VIEWER_ANALYSIS_PLACEMENT_BANDS_H

#include <cairo.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct view;
struct placement_bands;

/* As long as the view.  told: other rows are here. */
struct placement_bands *placement_bands_new(struct view *view, void (*told)(void *user));
void placement_bands_request(struct placement_bands *rows, int64_t from_ns, int64_t to_ns);
bool placement_bands_is_pending(const struct placement_bands *rows); /* is it under way? */
void placement_bands_clear(struct placement_bands *rows); /* another run */

int placement_bands_count(const struct placement_bands *rows);
/* The n-th row, which is row_px high and begins at y. */
void placement_bands_draw(const struct placement_bands *rows, cairo_t *cr, int n, double y,
                          double row_px, double band_px, int width);
/* What is said of what the n-th row has at x; NULL nothing.  New memory. */
char *placement_bands_describe(const struct placement_bands *rows, int n, double x);
/* "processor P0 of c0: 5 stays, 0.280 ms" for tests. */
void placement_bands_print(const struct placement_bands *rows, FILE *f);

#endif
