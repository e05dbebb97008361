/* The status line's text about the selected event, and its relation to the second one. */
#ifndef CLIENTS_VIEWER_DIAGRAM_STATUS_CARD_H
#define CLIENTS_VIEWER_DIAGRAM_STATUS_CARD_H

#include "clients/viewer/state/notifications.h"

struct view;

void status_card_on_notification(struct view *view, enum notification what);
void status_card_clear(struct view *view); /* removes the text */

#endif
