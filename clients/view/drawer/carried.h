/* Which task was on which thread of the system, below the bands of threads: a row for each of those, on the same axis.
 *
 * What is narrower than a pixel is told as a share of it. */
#ifndef CLIENTS_VIEW_DRAWER_CARRIED_H
#define CLIENTS_VIEW_DRAWER_CARRIED_H

#include <cairo.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct view;
struct carried_rows;

/* As long as the view.  told: other rows are here. */
struct carried_rows *carried_new(struct view *view, void (*told)(void *user));
void carried_ask(struct carried_rows *rows, int64_t from_ns, int64_t to_ns);
bool carried_asked(const struct carried_rows *rows); /* is it under way? */
void carried_clear(struct carried_rows *rows); /* another run */

int carried_count(const struct carried_rows *rows);
/* The n-th row, which is row_px high and begins at y. */
void carried_draw(const struct carried_rows *rows, cairo_t *cr, int n, double y, double row_px,
                  double band_px, int width);
/* What is said of what the n-th row has at x; NULL nothing.  New memory. */
char *carried_say(const struct carried_rows *rows, int n, double x);
/* "processor P0 of c0: 5 stays, 0.280 ms" for tests. */
void carried_print(const struct carried_rows *rows, FILE *f);

#endif
