/* What is known of how the two selected events stand to each other, and all others to the first. */
#ifndef CLIENTS_VIEWER_STATE_SELECTION_RELATIONS_H
#define CLIENTS_VIEWER_STATE_SELECTION_RELATIONS_H

#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/notifications.h"
#include "wire/query_results.h"
#include "wire/trace_view.h"

struct selection_relations {
    struct server_link *link; /* borrowed, as the next */
    const struct listener *news; /* told RELATED, and LOOK for the chain */
    struct request_slot ordering, chaining[2], counting, spanning;
    int8_t related; /* of the second to the selected one: enum causal_relation, -1 not known yet */
    /* why that is unknown, or what else may order them: bits of enum untraced_reason */
    uint32_t reasons;
    struct event_id *chain; /* from the one to the other */
    struct event_info *events; /* of the chain */
    uint32_t chain_count, chain_room;
    struct relation_counts count; /* of the selected one */
    struct between_info span; /* between the two */
    bool counts_on; /* however long it takes */
    /* pairs: by which event a thread of a deadlock waits, by which the next one came in */
    struct event_id *stuck;
    uint32_t stuck_count; /* of refs */
};

void selection_relations_clear(struct selection_relations *ties); /* nothing is known */
/* How they stand, and why.  What was asked before is not wanted any more; line 0: no event is
 * selected. */
void selection_relations_request(struct selection_relations *ties, struct event_id selected,
                                 struct event_id second);
/* How many stand how to it: what is found in a tenth of a second, or, `on`, all of them. */
void selection_relations_count(struct selection_relations *ties, struct event_id selected, bool on);
void selection_relations_stop_count(struct selection_relations *ties);
/* Copied.  False: they are the same as before. */
bool selection_relations_set_deadlock(struct selection_relations *ties,
                                      const struct event_id *pairs, uint32_t count);

#endif
