/* Uncontrolled sources of nondeterminism in a replayed run, as explanations for its first
 * divergence. */
#ifndef CLIENTS_CLI_UNSTEERED_H
#define CLIENTS_CLI_UNSTEERED_H

#include "clients/metadata/trace_metadata.h"
#include "base/map.h"
#include "wire/trace_view.h"

struct uncontrolled_events {
    struct map exits;    /* line, number of events by which a process ended */
    struct map children; /* of handlers of signals that came from those */
};

/* Processes each event of the recorded run, in order. */
void uncontrolled_event(struct uncontrolled_events *unsteered, const struct trace_metadata *book,
                        const struct event_info *event);
void uncontrolled_free(struct uncontrolled_events *unsteered);

/* The divergence: what the thread did, and what it did there and before in the recorded run, the
 * latest first. */
struct uncontrolled_place {
    const char *did; /* "": unknown */
    const struct event_info *was;
    uint32_t was_count;
    bool input;   /* input of calls was recorded */
    bool streams; /* except what stdio read */
};

/* Returns the most likely source first, with its reason, then other possible ones; new memory. */
char *uncontrolled_report(const struct uncontrolled_events *unsteered,
                          const struct trace_metadata *book,
                          const struct uncontrolled_place *place);

#endif
