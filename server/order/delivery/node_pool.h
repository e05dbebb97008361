/* Where what waits is kept: in pools, one behind the other, so that what came first lies first.
 * Nothing beside a pool is touched when a piece of it goes: with many that wait, hardly any of them
 * is in the processor's caches.
 *
 * Pools of which little is left are put together, but only when a piece is made: until then pieces
 * stay where they are. */
#ifndef SERVER_ORDER_DELIVERY_NODE_POOL_H
#define SERVER_ORDER_DELIVERY_NODE_POOL_H

#include "server/order/order_state.h"

/* Tells that a piece lies elsewhere now. */
typedef void piece_moved(struct order *order, const struct pending *from, struct pending *to);
/* Its members are not set; `at` is to be set at once. */
struct pending *node_pool_allocate(struct order *order, piece_moved *moved);
void node_pool_release(struct order *order, struct pending *piece); /* and its partners */
struct pending *node_pool_first(const struct order *order); /* the oldest one, NULL: none */
struct pending *node_pool_next(const struct pending *piece); /* the next younger one, or NULL */
bool node_pool_is_large(const struct order *order); /* more than are to be in memory */
void node_pool_free_all(struct order *order);

#endif
