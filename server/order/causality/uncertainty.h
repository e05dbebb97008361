/* Uncertain events in the causal past of each event. */
#ifndef SERVER_ORDER_CAUSALITY_UNCERTAINTY_H
#define SERVER_ORDER_CAUSALITY_UNCERTAINTY_H

#include "server/order/order_state.h"

void uncertainty_drop(struct uncertain_events *events); /* discards what was computed */

#endif
