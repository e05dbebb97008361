/* What the status line says of the selected event, and of how it stands to the second one. */
#ifndef CLIENTS_VIEW_PICTURE_CARD_H
#define CLIENTS_VIEW_PICTURE_CARD_H

#include "clients/view/parts/news.h"

struct view;

void card_take(struct view *view, enum news news);
void card_clear(struct view *view); /* nothing is to be said of what was selected */

#endif
