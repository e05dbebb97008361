/* The receives of a send: a chain through the rows while they are open, a list beside the log for
 * those that come later, which only grows. */
#include "server/order/log/late_receives.h"

#include "base/map.h"
#include "base/alloc.h"
#include "server/order/log/log_block.h"
#include "server/order/log/event_log.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>

/* Returns 1 + the index of the newest late receive of a send; 0 if there is none. */
static size_t late_of(const struct late_receives *late, uint64_t send)
{
    return (uintptr_t)map_get(&late->newest, send, 0);
}

void late_receives_add(struct late_receives *late, uint64_t send, uint64_t receive)
{
    size_t newest = late_of(late, send), i = late->count;
    late->items = array_reserve(late->items, &late->room, i + 1, sizeof *late->items);
    late->items[i] = (struct late_receive){send, receive, i};
    if (newest) {
        late->items[i].next = late->items[newest - 1].next;
        late->items[newest - 1].next = i;
    }
    late->count++;
    map_put(&late->newest, send, 0, (void *)(uintptr_t)late->count);
}

/* Links a receive that was just appended; only_send: it receives nothing else. */
void log_receive(struct order *order, uint64_t send, uint64_t receive, bool only_send)
{
    /* A row can be in one chain only, as its head or as a member. */
    if (send / BLOCK_EVENTS < order->log.packed || !only_send ||
        log_relation(order, send) != RELATION_SEND) {
        late_receives_add(&order->late, send, receive);
        return;
    }
    uint64_t head = log_get(order, send, FIELD_RECEIVE);
    log_set(order, receive, FIELD_RECEIVE, head);
    log_set(order, send, FIELD_RECEIVE, receive + 1);
}

void order_receives(const struct order *order, uint64_t send,
                    void (*visit)(void *context, uint64_t receive), void *context)
{
    uint64_t before = UINT64_MAX;
    uint64_t head =
        log_relation(order, send) == RELATION_SEND ? log_get(order, send, FIELD_RECEIVE) : 0;
    for (uint64_t next = head; next && next < before;) {
        if (next - 1 <= send || next > order->log.count)
            break; /* damaged */
        visit(context, next - 1);
        before = next; /* a chain leads back in the log */
        next = log_get(order, next - 1, FIELD_RECEIVE);
    }
    size_t newest = late_of(&order->late, send), i = newest ? newest - 1 : 0;
    while (newest) {
        i = order->late.items[i].next;
        visit(context, order->late.items[i].receive);
        if (i == newest - 1)
            break;
    }
}

bool order_sends(const struct order *order, uint64_t position)
{
    return log_sends(order, position);
}

uint32_t order_received(const struct order *order, uint64_t position)
{
    return block_edges(log_block(order, position), position % BLOCK_EVENTS).sends;
}

void late_receives_free(struct late_receives *late)
{
    free(late->items);
    map_free(&late->newest);
}
