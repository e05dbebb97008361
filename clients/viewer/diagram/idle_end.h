/* The idle end of a run: the time at its end in which no event occurred and no thread ran, as after
 * a deadlock.  The first view by time leaves most of it out, so that what happened before is
 * visible, and says how much. */
#ifndef CLIENTS_VIEWER_DIAGRAM_IDLE_END_H
#define CLIENTS_VIEWER_DIAGRAM_IDLE_END_H

#include <cairo.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct view;

#define IDLE_END_ROUNDS 8u /* requests at most, each of a smaller part of the run */

struct idle_end {
    unsigned rounds; /* how often the view may still be shortened: the first one only */
    int64_t from_ns, to_ns; /* the idle end, at least; to_ns 0: not known */
};

/* The next bands are those of a first view, which may be shortened. */
void idle_end_begin(struct view *view);
void idle_end_stop(struct view *view); /* the view is chosen otherwise */
/* Shortens the first view, after bands have arrived; returns whether it did: then bands of the
 * shorter one are to be requested. */
bool idle_end_shorten(struct view *view);
/* Draws a break at the end of the bands, and its length, if the view ends within the idle end;
 * end_px, bottom_px: where the bands end. */
void idle_end_draw(struct view *view, cairo_t *cr, double end_px, double bottom_px);
void idle_end_print(struct view *view, FILE *f);

#endif
