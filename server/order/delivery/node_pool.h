/* Memory of pending events: a sequence of pools, in the order of arrival.  Releasing a piece
 * touches only its pool, since of many pending events hardly any is in the processor's caches.
 *
 * Pools with few live pieces are merged, but only by an allocation: until then pieces do not
 * move. */
#ifndef SERVER_ORDER_DELIVERY_NODE_POOL_H
#define SERVER_ORDER_DELIVERY_NODE_POOL_H

#include "server/order/order_state.h"

/* Callback: a piece was moved. */
typedef void piece_moved(struct order *order, const struct pending *from, struct pending *to);
/* Allocates a piece with members that are not set: the caller must set `at` before any other call.
 */
struct pending *node_pool_allocate(struct order *order, piece_moved *moved);
void node_pool_release(struct pending_arrivals *pending,
                       struct pending *piece); /* and its partners */
struct pending *
node_pool_first(const struct pending_arrivals *pending); /* the oldest piece, or NULL */
struct pending *node_pool_next(const struct pending *piece); /* the next younger one, or NULL */
/* Returns whether more events are in memory than the limit allows. */
bool node_pool_is_large(const struct pending_arrivals *pending);
void node_pool_free_all(struct pending_arrivals *pending);

#endif
