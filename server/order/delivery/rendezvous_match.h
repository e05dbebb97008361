/* Matches events that name their partners by a key. */
#ifndef SERVER_ORDER_DELIVERY_RENDEZVOUS_MATCH_H
#define SERVER_ORDER_DELIVERY_RENDEZVOUS_MATCH_H

#include "server/order/order_state.h"

struct rendezvous *rendezvous_of(const struct rendezvous_table *table,
                                 const struct arrival *arrival);
struct rendezvous *rendezvous_add(struct order *order, uint64_t a, uint64_t b,
                                  struct event_id member);
/* Must be called before an event with a key, or a send to a stream, is delivered or set aside. */
void rendezvous_leave_all(struct order *order, const struct pending *pending);
/* Records that an event with this key was delivered. */
void rendezvous_done(struct order *order, const struct arrival *arrival, uint64_t second);
void rendezvous_free_all(struct rendezvous_table *table);

#endif
