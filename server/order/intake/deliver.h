/* What is ready goes to the log; what contradicts is set aside. */
#ifndef SERVER_ORDER_INTAKE_DELIVER_H
#define SERVER_ORDER_INTAKE_DELIVER_H

#include "server/order/intake/wait.h"

void point_append(struct order *order, const struct point *point, bool partner_lost);
void point_deliver(struct order *order, const struct point *point, bool partner_lost);
void point_contradict(struct order *order, struct pending *pending, struct ref with,
                      const char *why);

#endif
