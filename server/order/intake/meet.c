/* Those who meet by a key: partners and groups that cannot name each other. */
#include "server/order/intake/meet.h"

#include "memory/map.h"
#include "memory/memory.h"
#include "server/order/intake/stream.h"
#include "server/order/log/pages.h"
#include "server/order/order.h"
#include "server/order/state.h"
#include "wire/event.h"

#include <stdlib.h>

struct meeting *meeting_of(const struct order *order, const struct arrival *a)
{
    return map_get(&order->meetings, a->key[0], a->key[1]);
}

struct meeting *meeting_add(struct order *order, uint64_t a, uint64_t b, struct ref member)
{
    struct meeting *meeting = map_get(&order->meetings, a, b);
    if (!meeting) {
        meeting = memory_bytes(sizeof *meeting);
        *meeting =
            (struct meeting){.a = a, .b = b, .next = order->newest_meeting, .saved = order->saves};
        if (meeting->next)
            meeting->next->previous = meeting;
        order->newest_meeting = meeting;
        map_put(&order->meetings, a, b, meeting);
    }
    meeting->members =
        grow(meeting->members, &meeting->room, meeting->count + 1, sizeof *meeting->members);
    meeting->members[meeting->count++] = member;
    return meeting;
}

static void meeting_free(struct meeting *meeting)
{
    free(meeting->members);
    free(meeting->waiting);
    free(meeting);
}

static void unlink_meeting(struct order *order, const struct meeting *meeting)
{
    if (meeting->previous)
        meeting->previous->next = meeting->next;
    else
        order->newest_meeting = meeting->next;
    if (meeting->next)
        meeting->next->previous = meeting->previous;
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
    if (old && old->done) {
        save_meeting_gone(order, old);
        unlink_meeting(order, old);
        meeting_free(map_take(&order->meetings, oldest->a, oldest->b));
    }
    *oldest = key;
}

static void leave(struct order *order, const struct arrival *a, uint64_t second)
{
    struct meeting *meeting = map_get(&order->meetings, a->key[0], second);
    if (meeting)
        meeting_touch(order, meeting);
}

void meetings_leave(struct order *order, const struct pending *pending)
{
    const struct arrival *a = &pending->arrival;
    if (!a->keyed && a->relation != RELATION_GROUP)
        return;
    if (a->stream) {
        stream_leave(order, a);
        return;
    }
    if (!order->frozen)
        return;
    bool one = !a->partner_count || (a->partners == &pending->one && a->partners[0].line);
    size_t keys =
        one || a->partners[0].line == 0 ? 0 : a->partner_count; /* where they begin, see judge.c */
    if (one)
        leave(order, a, a->key[1]);
    for (size_t i = 0; !one && i < a->partner_count; i++)
        leave(order, a, a->partners[keys + i].number);
}

void meeting_done(struct order *order, const struct arrival *a, uint64_t second)
{
    struct meeting *meeting = map_get(&order->meetings, a->key[0], second);
    if (!meeting || meeting->done)
        return;
    struct key key = {a->key[0], second};
    meeting_touch(order, meeting);
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
    for (struct meeting *meeting = order->newest_meeting, *next; meeting; meeting = next) {
        next = meeting->next;
        meeting_free(meeting);
    }
    map_free(&order->meetings);
    free(order->done);
}
