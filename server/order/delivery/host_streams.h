/* Streams between hosts: which of their ends were reported, and receives that wait for a missing
 * report.
 *
 * The two ends are reported in any order, and an end that no program of the run has is never
 * reported; so a receive waits for the report for a limited time. After that the stream is alone,
 * and no receive waits for the place of its other end until a program reports that place. A place
 * is an address, or, if a program of the run reported that address as its own, the port there. */
#ifndef SERVER_ORDER_DELIVERY_HOST_STREAMS_H
#define SERVER_ORDER_DELIVERY_HOST_STREAMS_H

#include "server/order/delivery/byte_stream.h"
#include "server/order/order.h"

#include <stdbool.h>
#include <stdint.h>

/* Must be called when lines were marked as gone. */
void host_streams_gone(struct order *order);

/* Restore saved streams, of which they take over ends->writers, and places. */
void host_streams_restore(struct order *order, uint64_t key, const struct stream_ends *ends);
void host_streams_place_restore(struct order *order, struct stream_place place, bool alone);
/* Calls visit for each address that an end reported as its own, and for each place that was
 * awaited in vain. */
void host_streams_places(const struct order *order,
                         void (*visit)(void *context, struct stream_place place, bool alone),
                         void *context);
void host_streams_free(struct stream_ends_state *known);

#endif
