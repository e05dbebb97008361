/* The receives of a send for which its row has no room. */
#ifndef SERVER_ORDER_LOG_LATE_RECEIVES_H
#define SERVER_ORDER_LOG_LATE_RECEIVES_H

#include "server/order/order_state.h"

void log_receive(struct order *order, uint64_t send, uint64_t receive, bool only_send);
void late_receives_free(struct late_receives *late);
void late_receives_add(struct late_receives *late, uint64_t send, uint64_t receive);

#endif
