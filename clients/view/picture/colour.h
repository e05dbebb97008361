/* How all that is seen stands to the selected event. */
#ifndef CLIENTS_VIEW_PICTURE_COLOUR_H
#define CLIENTS_VIEW_PICTURE_COLOUR_H

#include "clients/source/stands.h"
#include "clients/view/parts/inquiry.h"

struct view;

struct relation_colors {
    struct request_slot standing;
    struct event_relations stands; /* of the window's events, as far as it was told */
};

void relation_colors_request(struct view *view);

#endif
