/* All events of some lines of a source, marked in the picture as hits of a search are. */
#ifndef CLIENTS_VIEW_DRAWER_LINEHITS_H
#define CLIENTS_VIEW_DRAWER_LINEHITS_H

#include <stdbool.h>

struct view;
struct linehits;

struct linehits *linehits_new(struct view *view);
void linehits_free(struct linehits *hits); /* what it asked for is not answered any more */
/* Marks them, besides what is marked, as they are found.  Those of what was wanted before are not any more. */
void linehits_mark(struct linehits *hits, const char *path, int first, int last);
void linehits_cancel(struct linehits *hits);
void linehits_clear(struct linehits *hits); /* another run */
bool linehits_busy(const struct linehits *hits);

#endif
