/* The selected event, the second one that is compared with it, and the relations of all visible
 * events to the selected one, by which they are colored. */
#ifndef CLIENTS_VIEWER_DIAGRAM_SELECTION_H
#define CLIENTS_VIEWER_DIAGRAM_SELECTION_H

#include "clients/connection/client_requests.h"
#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/request_slot.h"
#include "wire/event_types.h"

#include <stdbool.h>

struct view;

struct selection_colors {
    struct request_slot slot;
    struct event_relations relations; /* of the window's events, as far as received */
};

/* Line 0: none. It can be undone. */
void selection_set(struct view *view, struct event_id at, bool second);
void selection_set_silently(struct view *view, struct event_id at,
                            bool second); /* a change without user action, which cannot be undone */
/* Requests what belongs to the selection of a restored view state. */
void selection_on_restored(struct view *view, enum notification what);
/* Requests the relations for the present scene, if they are displayed. */
void selection_request_colors(struct view *view);

#endif
