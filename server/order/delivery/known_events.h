/* Events that another order has delivered, with all their edges, appended in the order of its log:
 * a part of an execution then has the order of the whole (server/cuts/cut_writer.h). */
#ifndef SERVER_ORDER_DELIVERY_KNOWN_EVENTS_H
#define SERVER_ORDER_DELIVERY_KNOWN_EVENTS_H

#include "server/order/order.h"

/* Appends a delivered event without waiting for any other. event.point is a position of this order:
 * that of the event, or of the point of the one before it; event.number is greater than those on
 * its line so far, and a hidden line is made by its first event. Numbers in between were lost if
 * event.after_gap is set, else left out, which makes no event uncertain; with `forget` it is not
 * known any more then which threads are in the line. edges: positions before
 * that of the point, of the sends that it receives first. Returns false, and appends nothing, if
 * that is not so. */
bool order_append_known(struct order *order, struct order_event event, const uint64_t *edges,
                        bool forget);
/* Forgets which threads are in a line, if there is such a line. */
void order_forget_occupants(struct order *order, uint32_t line);

#endif
