/* Where the thread of an event was when it made it: on which processor or cluster of its runtime,
 * or of the machine. */
#ifndef CLIENTS_VIEWER_SIDEBAR_EVENT_PLACEMENT_H
#define CLIENTS_VIEWER_SIDEBAR_EVENT_PLACEMENT_H

#include "clients/viewer/state/table_model.h"
#include "wire/trace_view.h"

struct view;

/* Zero-initialised. */
struct event_placement {
    struct view *view;
    struct table_model spells; /* of the thread, about the moment of the event */
    struct event_id of; /* the event that was asked about; line 0: none */
    void (*on_table)(struct view *view); /* it may be known now */
};

void event_placement_request(struct event_placement *ran, const struct event_info *event);
/* "P1 of cluster c0", of the table; NULL: not known, or not known yet. */
const char *event_placement_text(const struct event_placement *ran, struct event_id at);
void event_placement_clear(struct event_placement *ran);

#endif
