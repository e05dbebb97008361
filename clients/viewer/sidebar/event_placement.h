/* Placement of an event's thread when it made the event: the worker thread or cluster of its
 * runtime, or the processor. */
#ifndef CLIENTS_VIEWER_SIDEBAR_EVENT_PLACEMENT_H
#define CLIENTS_VIEWER_SIDEBAR_EVENT_PLACEMENT_H

#include "clients/viewer/state/table_model.h"
#include "wire/trace_view.h"

struct view;

/* Zero-initialized. */
struct event_placement {
    struct view *view;
    struct table_model spells; /* state intervals of the thread around the time of the event */
    struct event_id of; /* the requested event; line 0: none */
    void (*on_table)(struct view *view); /* the result may be available now */
};

void event_placement_request(struct event_placement *ran, const struct event_info *event);
/* Returns "P1 of cluster c0", owned by the table; NULL: unknown, or not known yet. */
const char *event_placement_text(const struct event_placement *ran, struct event_id at);
void event_placement_clear(struct event_placement *ran);

#endif
