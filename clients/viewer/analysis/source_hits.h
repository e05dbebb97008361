/* All events of some lines of a source, marked in the picture as hits of a search are. */
#ifndef CLIENTS_VIEWER_ANALYSIS_SOURCE_HITS_H
#define CLIENTS_VIEWER_ANALYSIS_SOURCE_HITS_H

#include <stdbool.h>

struct view;
struct source_hits;

struct source_hits *source_hits_new(struct view *view);
void source_hits_free(struct source_hits *hits); /* what it asked for is not answered any more */
/* Marks them, besides what is marked, as they are found.  Those of what was wanted before are not
 * any more. */
void source_hits_mark(struct source_hits *hits, const char *path, int first, int last);
void source_hits_cancel(struct source_hits *hits);
void source_hits_clear(struct source_hits *hits); /* another run */
bool source_hits_are_busy(const struct source_hits *hits);

#endif
