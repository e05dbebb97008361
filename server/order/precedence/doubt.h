/* Which doubtful events are before each event. */
#ifndef SERVER_ORDER_PRECEDENCE_DOUBT_H
#define SERVER_ORDER_PRECEDENCE_DOUBT_H

#include "server/order/state.h"

void uncertainty_drop(struct order *order); /* what was found out about them */

#endif
