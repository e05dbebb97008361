/* What is said of whatever the pointer is over.  Texts are the caller's. */
#ifndef CLIENTS_VIEW_PICTURE_HOVER_H
#define CLIENTS_VIEW_PICTURE_HOVER_H

#include "clients/view/parts/stage.h"
#include "wire/shown.h"

struct view;

char *hover_event(struct view *view, const struct shown_event *event);
/* What a line does between two marks; NULL: nothing worth a word. */
char *hover_stretch(struct view *view, uint32_t row, double x_pt);
#endif
