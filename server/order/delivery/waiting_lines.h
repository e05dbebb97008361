/* Lines with first pending events that wait for events of other lines. */
#ifndef SERVER_ORDER_DELIVERY_WAITING_LINES_H
#define SERVER_ORDER_DELIVERY_WAITING_LINES_H

#include "server/order/order_state.h"

/* Events that are delivered together; the first one is the head that is checked. */
struct sync_point {
    struct pending **members;
    size_t count, room;
    uint8_t doubt; /* an enum untraced_reason: why members are missing */
};

/* Queues a line, to have its head checked. */
void line_enqueue(struct order *order, uint32_t number);
uint32_t line_dequeue(struct line_queue *queue); /* it must not be empty */
/* wakes the lines that waited for what this line delivered */
void line_wake(struct order *order, uint32_t number);
/* wakes the first waiting line, whatever it waits for */
void line_wake_one(struct order *order, uint32_t number);
bool sync_point_has(const struct sync_point *point, uint32_t line);
/* Makes the synchronization point wait for `need`; returns false if that closes a cycle of
 * waiting lines. */
bool sync_point_wait(struct order *order, const struct sync_point *point, struct event_id need);

#endif
