/* Order from other threads, told of each event, as its thread waited or not. */
#ifndef SERVER_TIMING_INCOMING_EDGES_H
#define SERVER_TIMING_INCOMING_EDGES_H

#include "server/timing/event_reader.h"
#include "server/timing/intervals.h"
#include "server/timing/run_metadata_source.h"

/* Zero-initialised: nothing was seen. */
struct incoming_edges {
    struct ties_line { /* who acted there last, and when */
        int64_t ns;
        uint32_t thread;
    } *lines; /* by line - 1 */
    size_t room;
};

/* The next event of the log, which its thread acts at a time: what of other threads it comes
 * directly after, by its line, if that is no shared one, and by its newest edges. */
void incoming_edges_note(struct incoming_edges *ties, const struct run_metadata_source *teller,
                         struct event_reader *events, struct intervals *intervals,
                         const struct order_event *event, uint64_t position, int64_t ns);
void incoming_edges_free(struct incoming_edges *ties); /* empties it */

#endif
