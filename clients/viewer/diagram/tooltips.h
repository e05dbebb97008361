/* Tooltips of the diagram. The caller frees the texts. */
#ifndef CLIENTS_VIEWER_DIAGRAM_TOOLTIPS_H
#define CLIENTS_VIEWER_DIAGRAM_TOOLTIPS_H

#include "clients/viewer/state/scene_cache.h"
#include "wire/trace_view.h"

struct view;

char *tooltip_event_text(struct view *view, const struct event_info *event);
/* Describes a line between two marks; NULL: nothing of interest. */
char *tooltip_stretch_text(struct view *view, uint32_t row, double x_pt);
#endif
