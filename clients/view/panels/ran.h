/* Where the thread of an event was when it made it: on which processor or cluster of its runtime, or of the machine. */
#ifndef CLIENTS_VIEW_PANELS_RAN_H
#define CLIENTS_VIEW_PANELS_RAN_H

#include "clients/view/parts/tabled.h"
#include "wire/shown.h"

struct view;

/* Zero-initialised. */
struct ran {
    struct view *view;
    struct tabled spells; /* of the thread, about the moment of the event */
    struct ref of; /* the event that was asked about; line 0: none */
    void (*told)(struct view *view); /* it may be known now */
};

void ran_ask(struct ran *ran, const struct shown_event *event);
/* "P1 of cluster c0", of the table; NULL: not known, or not known yet. */
const char *ran_said(const struct ran *ran, struct ref at);
void ran_clear(struct ran *ran);

#endif
