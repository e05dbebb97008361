/* Relations of the two selected events to each other, and of all others to the first. */
#ifndef CLIENTS_VIEWER_STATE_SELECTION_RELATIONS_H
#define CLIENTS_VIEWER_STATE_SELECTION_RELATIONS_H

#include "clients/viewer/state/request_slot.h"
#include "clients/viewer/state/notifications.h"
#include "wire/query_results.h"
#include "wire/trace_view.h"

struct selection_relations {
    struct server_link *link; /* borrowed, like the following */
    const struct notifier *notifier; /* receives SELECTION_RELATIONS, and LOOK for the chain */
    struct request_slot ordering, chaining[2], counting, spanning;
    int8_t related; /* of the second to the selected one: enum causal_relation, -1: not known yet */
    /* why that is unknown, or what else may order them: bits of enum untraced_reason */
    uint32_t reasons;
    struct event_id *chain; /* from the one to the other */
    struct event_info *events; /* of the chain */
    uint32_t chain_count, chain_room;
    struct relation_counts count; /* of the selected one */
    struct between_info span; /* between the two */
    bool counts_on; /* count completely, however long it takes */
    /* pairs: the event by which a thread of a deadlock waits, and that by which the next one
     * entered */
    struct event_id *stuck;
    uint32_t stuck_count; /* events in `stuck`, two a pair */
};

void selection_relations_clear(struct selection_relations *ties); /* forgets everything */
/* Requests the relation and its reasons. Drops a pending request; line 0: no event is selected. */
void selection_relations_request(struct selection_relations *ties, struct event_id selected,
                                 struct event_id second);
/* Counts the events by their relation to it: as far as a tenth of a second allows, or, with `on`,
 * all of them. */
void selection_relations_count(struct selection_relations *ties, struct event_id selected, bool on);
void selection_relations_stop_count(struct selection_relations *ties);
/* Copies the pairs. Returns false if they have not changed. */
bool selection_relations_set_deadlock(struct selection_relations *ties,
                                      const struct event_id *pairs, uint32_t count);

#endif
