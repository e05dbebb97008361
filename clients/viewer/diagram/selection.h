/* The selected event, and the second one that is compared with it. */
#ifndef CLIENTS_VIEWER_DIAGRAM_SELECTION_H
#define CLIENTS_VIEWER_DIAGRAM_SELECTION_H

#include "wire/event_types.h"

#include <stdbool.h>

struct view;

/* Line 0: none. It can be undone. */
void selection_set(struct view *view, struct event_id at, bool second);
void selection_set_silently(struct view *view, struct event_id at,
                            bool second); /* a change without user action, which cannot be undone */
void selection_on_restored(
    struct view *view); /* NOTIFY_RESTORED: requests everything that belongs to it */

#endif
