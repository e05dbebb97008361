/* Streams between hosts: whose ends are told, and who waits for one that is not. */
#ifndef SERVER_ORDER_DELIVERY_HOST_STREAMS_H
#define SERVER_ORDER_DELIVERY_HOST_STREAMS_H

#include "server/order/order.h"

#include <stdbool.h>
#include <stdint.h>

struct stream_ends;
struct stream_ends_state;

void host_streams_gone(struct order *order); /* lines are */

/* Those that were saved. */
void host_streams_restore(struct order *order, uint64_t key,
                          const struct stream_ends *ends); /* takes its writers */
void host_streams_place_restore(struct order *order, struct stream_place place, bool alone);
/* Calls visit for each address that is somebody's, and each place that was waited for in vain. */
void host_streams_places(const struct order *order,
                         void (*visit)(void *context, struct stream_place place, bool alone),
                         void *context);
void host_streams_free(struct stream_ends_state *known);

#endif
