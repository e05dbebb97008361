/* Annotations of a run: the texts of its events.
 *
 * A zero-initialized struct has none.  They are discarded with their events.  Not thread-safe. */
#ifndef SERVER_RUN_ANNOTATIONS_H
#define SERVER_RUN_ANNOTATIONS_H

#include "base/map.h"
#include "server/order/order.h"

#include <stdbool.h>
#include <stdint.h>

struct run_text {
    struct run_text *next, *last; /* last, count: set in the first text of an event */
    uint32_t count;
    char text[];
};

struct annotations {
    struct map events; /* line, number -> the first text of the event */
    uint64_t count; /* number of all texts that were added */
};

/* Adds a text to an event, cut to LIMIT_TEXT_BYTES; returns what was added, or NULL if the event
 * has too many. */
const struct run_text *annotations_add(struct annotations *annotations, struct event_id at,
                                       const char *text);
/* Returns the first text of an event, or NULL. */
const struct run_text *annotations_at(const struct annotations *annotations, struct event_id at);
/* Removes the texts of discarded events in steps; *removal must be zero before the first step.
 * Returns true when all is done. */
bool annotations_discard_step(struct annotations *annotations, struct map_removal *removal,
                              struct order *order);
void annotations_free(struct annotations *annotations);

#endif
