/* The cause of a wait in one sentence: for a selected event that begins or ends a wait, or for a
 * row. */
#ifndef CLIENTS_VIEWER_DIAGRAM_WAIT_CAUSE_H
#define CLIENTS_VIEWER_DIAGRAM_WAIT_CAUSE_H

#include "clients/viewer/state/notifications.h"
#include "wire/event_types.h"

struct view;

/* Requests it for the wait that begins or ends with this event; NOTIFY_WAIT_CAUSE announces the
 * result. */
void wait_cause_request(struct view *view, struct event_id at);
/* Returns the sentence known for this event, for any if at is NULL; NULL: none. */
const char *wait_cause_sentence(const struct view *view, const struct event_id *at);
void wait_cause_go_to(
    struct view *view); /* to the event that ended the wait, as soon as it is known */
void wait_cause_on_notification(struct view *view, enum notification what);
void wait_cause_clear(struct view *view); /* another run */

#endif
