/* Streams between hosts: which of their ends were reported, and receives that wait for a missing
 * report. */
#ifndef SERVER_ORDER_DELIVERY_HOST_STREAMS_H
#define SERVER_ORDER_DELIVERY_HOST_STREAMS_H

#include "server/order/order.h"

#include <stdbool.h>
#include <stdint.h>

struct stream_ends;
struct stream_ends_state;

/* Must be called when lines were marked as gone. */
void host_streams_gone(struct order *order);

/* Restores saved streams and places. */
/* Takes over ends->writers. */
void host_streams_restore(struct order *order, uint64_t key, const struct stream_ends *ends);
void host_streams_place_restore(struct order *order, struct stream_place place, bool alone);
/* Calls visit for each address that an end reported as its own, and for each place that was
 * awaited in vain. */
void host_streams_places(const struct order *order,
                         void (*visit)(void *context, struct stream_place place, bool alone),
                         void *context);
void host_streams_free(struct stream_ends_state *known);

#endif
