/* What is said of whatever the pointer is over.  Texts are the caller's. */
#ifndef CLIENTS_VIEW_PICTURE_HOVER_H
#define CLIENTS_VIEW_PICTURE_HOVER_H

#include "clients/view/parts/stage.h"
#include "wire/shown.h"

struct view;

char *tooltip_event_text(struct view *view, const struct event_info *event);
/* What a line does between two marks; NULL: nothing worth a word. */
char *tooltip_stretch_text(struct view *view, uint32_t row, double x_pt);
#endif
