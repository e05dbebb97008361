/* The picture of the place: asked for as a window of placed events, and made a scene when it is
 * here. */
#ifndef CLIENTS_VIEWER_DIAGRAM_DIAGRAM_VIEW_H
#define CLIENTS_VIEWER_DIAGRAM_DIAGRAM_VIEW_H

#include "clients/viewer/state/request_slot.h"

struct view;

struct diagram_view {
    struct request_slot placing;
    int32_t from; /* of the place, when it was asked for */
    double shift_pt;
    unsigned rounds; /* so often it was asked for because the window had moved the place */
    bool fresh; /* nothing of the run was shown yet */
    bool leaving; /* one to jump to is coming: how this one looks is not worth a frame */
};

void diagram_view_request(struct view *view); /* densities, if the place is far */
void diagram_view_keep_current(
    struct view *view); /* if none is coming, it looks as it is to after all */
void picture_tell_much(struct view *view); /* as long as a column of it holds too much */
void diagram_view_rebuild(struct view *view); /* with other names, symbols or times */

#endif
