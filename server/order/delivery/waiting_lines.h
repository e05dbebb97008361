/* Lines whose first pending events wait for events of other lines. */
#ifndef SERVER_ORDER_DELIVERY_WAITING_LINES_H
#define SERVER_ORDER_DELIVERY_WAITING_LINES_H

#include "server/order/order_state.h"

struct
    sync_point { /* events that are delivered together; the first is the head that was looked at */
    struct pending **members;
    size_t count, room;
    uint8_t doubt; /* an enum untraced_reason: some that belong to it are missing */
};

void line_enqueue(struct order *order, uint32_t number); /* its head is to be looked at */
uint32_t line_dequeue(struct order *order); /* call only if work is left */
/* wakes the lines that waited for what this line delivered */
void line_wake(struct order *order, uint32_t number);
/* wakes the first waiting line, whatever it waits for */
void line_wake_one(struct order *order, uint32_t number);
bool sync_point_has(const struct sync_point *point, uint32_t line);
/* Makes the synchronization point wait for `need`; returns false if that closes a cycle of
 * waiting lines. */
bool sync_point_wait(struct order *order, const struct sync_point *point, struct event_id need);

#endif
