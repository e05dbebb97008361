/* Incoming order edges from other threads, recorded for each event whether its thread waited or
 * not. */
#ifndef SERVER_TIMING_INCOMING_EDGES_H
#define SERVER_TIMING_INCOMING_EDGES_H

#include "server/timing/event_reader.h"
#include "server/timing/intervals.h"
#include "server/timing/run_metadata_source.h"

/* A zero-initialized struct has seen no events. */
struct incoming_edges {
    struct ties_line { /* the thread that acted last on the line, and when */
        int64_t ns;
        uint32_t thread;
    } *lines; /* by line - 1 */
    size_t room;
};

/* Records, for the next event of the log, the events of other threads directly before it: the
 * previous one on its line, unless that is a shared line, and its newest edges. ns: the event's
 * time. */
void incoming_edges_note(struct incoming_edges *ties, const struct run_metadata_source *teller,
                         struct event_reader *events, struct intervals *intervals,
                         const struct order_event *event, uint64_t position, int64_t ns);
void incoming_edges_free(struct incoming_edges *ties); /* frees the memory; it is empty then */

#endif
