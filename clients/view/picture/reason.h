/* Why a wait took so long, in one sentence: of the selected event, where it ends or begins a wait, or of a row. */
#ifndef CLIENTS_VIEW_PICTURE_REASON_H
#define CLIENTS_VIEW_PICTURE_REASON_H

#include "clients/view/parts/news.h"
#include "wire/event.h"

struct view;

/* The wait that begins or ends with this event; it is told by NEWS_REASON. */
void reason_ask(struct view *view, struct ref at);
/* The sentence that is known of this event, of any if at is NULL; NULL: none. */
const char *reason_said(const struct view *view, const struct ref *at);
void reason_go(struct view *view); /* to the event that ended the wait, as soon as it is known */
void reason_take(struct view *view, enum news news);
void reason_clear(struct view *view); /* another run */

#endif
