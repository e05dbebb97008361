/* The panel of who waits at the end of what was recorded. */
#ifndef CLIENTS_VIEW_PANELS_WAITING_H
#define CLIENTS_VIEW_PANELS_WAITING_H

#include "wire/shown.h"

struct view;

/* The event that waits longest; NULL: none. */
const struct shown_event *waiting_oldest(struct view *view);

#endif
