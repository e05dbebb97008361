/* Marks in the diagram for all events of some source lines, like search hits. */
#ifndef CLIENTS_VIEWER_ANALYSIS_SOURCE_HITS_H
#define CLIENTS_VIEWER_ANALYSIS_SOURCE_HITS_H

#include <stdbool.h>

struct view;
struct source_hits;

struct source_hits *source_hits_new(struct view *view);
void source_hits_free(struct source_hits *hits); /* call when the link is closed */
/* Marks the events, in addition to existing marks, as they are found. Marks of the previous call
 * are removed. */
void source_hits_mark(struct source_hits *hits, const char *path, int first, int last);
void source_hits_cancel(struct source_hits *hits);
void source_hits_clear(struct source_hits *hits); /* another run */
bool source_hits_are_busy(const struct source_hits *hits);

#endif
