/* Those who meet by a key: partners and groups that cannot name each other. */
#include "server/order/inside.h"

#include <stdlib.h>

struct meeting *meeting_of(const struct order *order, const struct arrival *a)
{
    return map_get(&order->meetings, a->key[0], a->key[1]);
}

struct meeting *meeting_add(struct order *order, uint64_t a, uint64_t b, struct ref member)
{
    struct meeting *meeting = map_get(&order->meetings, a, b);
    size_t room = 0;
    if (!meeting) {
        meeting = grow(NULL, &room, 1, sizeof *meeting);
        *meeting = (struct meeting){0};
        map_put(&order->meetings, a, b, meeting);
    }
    meeting->members =
        grow(meeting->members, &meeting->room, meeting->count + 1, sizeof *meeting->members);
    meeting->members[meeting->count++] = member;
    return meeting;
}

static void meeting_free(struct meeting *meeting)
{
    if (!meeting)
        return;
    free(meeting->members);
    free(meeting->waiting);
    free(meeting);
}

/* Remembers it a while longer, and forgets the oldest. */
static void retire(struct order *order, struct meeting *meeting, struct key key)
{
    meeting->done = true;
    if (order->done_count < MEETINGS_DONE) {
        order->done =
            grow(order->done, &order->done_room, order->done_count + 1, sizeof *order->done);
        order->done[order->done_count++] = key;
        return;
    }
    struct key *oldest = &order->done[order->done_count++ % MEETINGS_DONE];
    struct meeting *old = map_get(&order->meetings, oldest->a, oldest->b);
    if (old && old->done)
        meeting_free(map_take(&order->meetings, oldest->a, oldest->b));
    *oldest = key;
}

void meeting_done(struct order *order, const struct arrival *a, uint64_t second)
{
    struct meeting *meeting = map_get(&order->meetings, a->key[0], second);
    if (!meeting || meeting->done)
        return;
    struct key key = {a->key[0], second};
    if (a->relation == RELATION_SEND)
        meeting->expected = a->group_size;
    meeting->receives += a->relation == RELATION_RECEIVE;
    if (a->relation == RELATION_SYNC || a->relation == RELATION_GROUP ||
        (a->relation == RELATION_RECEIVE && a->group_size == 1) ||
        (meeting->expected && meeting->receives >= meeting->expected))
        retire(order, meeting, key);
}

void meetings_free(struct order *order)
{
    map_settle(&order->meetings);
    for (size_t i = 0; i < order->meetings.room; i++)
        meeting_free(order->meetings.entries[i].value);
    map_free(&order->meetings);
    free(order->done);
}
