/* Relations of all visible events to the selected one. */
#ifndef CLIENTS_VIEWER_DIAGRAM_RELATION_COLORS_H
#define CLIENTS_VIEWER_DIAGRAM_RELATION_COLORS_H

#include "clients/connection/relation_query.h"
#include "clients/viewer/state/request_slot.h"

struct view;

struct relation_colors {
    struct request_slot standing;
    struct event_relations stands; /* of the window's events, as far as received */
};

void relation_colors_request(struct view *view);

#endif
