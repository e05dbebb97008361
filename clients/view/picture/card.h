/* What the status line says of the selected event, and of how it stands to the second one. */
#ifndef CLIENTS_VIEW_PICTURE_CARD_H
#define CLIENTS_VIEW_PICTURE_CARD_H

#include "clients/view/parts/news.h"

struct view;

void status_card_on_notification(struct view *view, enum notification news);
void status_card_clear(struct view *view); /* nothing is to be said of what was selected */

#endif
