/* The receives of a send: a chain through the rows while they are open, a list beside the log for
 * those that come later. */
#include "server/order/inside.h"

#include <stdlib.h>

void receives_add(struct order *order, uint64_t send, uint64_t receive)
{
    struct receive_list *late = map_get(&order->receives, send, 0);
    size_t room = 0;
    if (!late) {
        late = grow(NULL, &room, 1, sizeof *late);
        *late = (struct receive_list){0};
        map_put(&order->receives, send, 0, late);
    }
    late->receives = grow(late->receives, &late->room, late->count + 1, sizeof *late->receives);
    late->receives[late->count++] = receive;
}

/* Links a receive that was just appended; only_send: it receives nothing else. */
void log_receive(struct order *order, uint64_t send, uint64_t receive, bool only_send)
{
    /* A row can be in one chain only, and lead to it or be part of it. */
    if (send / BLOCK_EVENTS < order->packed || !only_send ||
        log_relation(order, send) != RELATION_SEND) {
        receives_add(order, send, receive);
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
    uint64_t head = log_relation(order, send) == RELATION_SEND ? log_get(order, send, FIELD_RECEIVE) : 0;
    for (uint64_t next = head; next && next < before;) {
        if (next - 1 <= send || next > order->count)
            break; /* damaged */
        visit(context, next - 1);
        before = next; /* a chain leads back in the log */
        next = log_get(order, next - 1, FIELD_RECEIVE);
    }
    const struct receive_list *late = map_get(&order->receives, send, 0);
    for (size_t i = 0; late && i < late->count; i++)
        visit(context, late->receives[i]);
}

void receives_free(struct order *order)
{
    for (size_t i = 0; i < order->receives.room; i++) {
        struct receive_list *late = order->receives.entries[i].value;
        if (late)
            free(late->receives);
        free(late);
    }
    map_free(&order->receives);
}
