/* What the status line says of the selected event, and of how it stands to the second one. */
#ifndef CLIENTS_VIEWER_DIAGRAM_STATUS_CARD_H
#define CLIENTS_VIEWER_DIAGRAM_STATUS_CARD_H

#include "clients/viewer/state/notifications.h"

struct view;

void status_card_on_notification(struct view *view, enum notification news);
void status_card_clear(struct view *view); /* nothing is to be said of what was selected */

#endif
