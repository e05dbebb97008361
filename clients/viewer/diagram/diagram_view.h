/* The diagram of the current view state: requested as a window of placed events, from which a scene
 * is made. */
#ifndef CLIENTS_VIEWER_DIAGRAM_DIAGRAM_VIEW_H
#define CLIENTS_VIEWER_DIAGRAM_DIAGRAM_VIEW_H

#include "clients/viewer/state/notifications.h"
#include "clients/viewer/state/request_slot.h"

#include <stdbool.h>

struct view;

struct diagram_view {
    struct request_slot placing;
    int32_t from; /* of the view state, at the time of the request */
    double shift_pt;
    unsigned rounds; /* number of repeated requests because the window had moved the view */
    bool fresh; /* nothing of the run was shown yet */
    bool whole; /* if the run is finished, all of it is to be shown */
    bool leaving; /* a jump to another window follows: this one is not drawn */
};

/* Draws the present window after all, if none is requested. */
void diagram_view_keep_current(struct view *view);
/* Requests the window for another view state, or its state bands when zoomed out; warns while a
 * column contains too many events. */
void diagram_view_on_notification(struct view *view, enum notification what);
/* Makes the scene again, with other labels, symbols or times. */
void diagram_view_rebuild(struct view *view);

#endif
