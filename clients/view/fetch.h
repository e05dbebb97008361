/* The trace itself, fetched from the server into a file, as it is now. */
#ifndef CLIENTS_VIEW_FETCH_H
#define CLIENTS_VIEW_FETCH_H

#include <stdbool.h>

struct view;

void fetch_trace(struct view *view); /* asks where */
void fetch_trace_to(struct view *view, const char *file);
bool fetch_runs(const struct view *view);
void fetch_cancel(struct view *view); /* what was written of it goes */

#endif
