/* The selected event, and the second one that is compared with it. */
#ifndef CLIENTS_VIEW_PICTURE_SELECT_H
#define CLIENTS_VIEW_PICTURE_SELECT_H

#include "wire/event.h"

#include <stdbool.h>

struct view;

/* Line 0: none.  It can be undone. */
void select_event(struct view *view, struct ref at, bool second);
void select_silently(struct view *view, struct ref at, bool second); /* a change that nobody made */
void select_restored(struct view *view); /* NEWS_RESTORED: all is asked for that belongs to it */

#endif
