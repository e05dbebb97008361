/* What is known of how the two selected events stand to each other, and all others to the first. */
#ifndef CLIENTS_VIEW_PARTS_TIES_H
#define CLIENTS_VIEW_PARTS_TIES_H

#include "clients/view/parts/inquiry.h"
#include "clients/view/parts/news.h"
#include "wire/found.h"
#include "wire/shown.h"

struct ties {
    struct link *link; /* borrowed, as the next */
    const struct listener *news; /* told RELATED, and LOOK for the chain */
    struct inquiry ordering, chaining[2], counting, spanning;
    int8_t related; /* of the second to the selected one: enum precedence, -1 not known yet */
    uint32_t reasons; /* why that is unknown, or what else may order them: bits of enum unseen */
    struct ref *chain; /* from the one to the other */
    struct shown_event *events; /* of the chain */
    uint32_t chain_count, chain_room;
    struct shown_count count; /* of the selected one */
    struct shown_span span; /* between the two */
    bool counts_on; /* however long it takes */
    struct ref *
        stuck; /* pairs: by which event a thread of a deadlock waits, by which the next one came in */
    uint32_t stuck_count; /* of refs */
};

void ties_clear(struct ties *ties); /* nothing is known */
/* How they stand, and why.  What was asked before is not wanted any more; line 0: no event is
 * selected. */
void ties_ask(struct ties *ties, struct ref selected, struct ref second);
/* How many stand how to it: what is found in a tenth of a second, or, `on`, all of them. */
void ties_count(struct ties *ties, struct ref selected, bool on);
void ties_count_stop(struct ties *ties);
/* Copied.  False: they are the same as before. */
bool ties_stuck(struct ties *ties, const struct ref *pairs, uint32_t count);

#endif
