/* Matches events by a key: partners and groups that cannot name each other. */
#include "server/order/delivery/rendezvous_match.h"

#include "base/alloc.h"
#include "base/map.h"
#include "server/order/delivery/byte_stream.h"
#include "server/order/log/line_pages.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>

struct rendezvous *rendezvous_of(const struct rendezvous_table *table, const struct arrival *a)
{
    return map_get(&table->by_key, a->key[0], a->key[1]);
}

struct rendezvous *rendezvous_add(struct order *order, uint64_t a, uint64_t b,
                                  struct event_id member)
{
    struct rendezvous_table *table = &order->rendezvous;
    struct rendezvous *meeting = map_get(&table->by_key, a, b);
    if (!meeting) {
        meeting = xmalloc(sizeof *meeting);
        *meeting =
            (struct rendezvous){.a = a, .b = b, .next = table->newest, .saved = order->saves.begun};
        if (meeting->next)
            meeting->next->previous = meeting;
        table->newest = meeting;
        map_put(&table->by_key, a, b, meeting);
    }
    meeting->members = array_reserve(meeting->members, &meeting->room, meeting->count + 1,
                                     sizeof *meeting->members);
    meeting->members[meeting->count++] = member;
    return meeting;
}

static void meeting_free(struct rendezvous *meeting)
{
    free(meeting->members);
    free(meeting->waiting);
    free(meeting);
}

static void unlink_meeting(struct rendezvous_table *table, const struct rendezvous *meeting)
{
    if (meeting->previous)
        meeting->previous->next = meeting->next;
    else
        table->newest = meeting->next;
    if (meeting->next)
        meeting->next->previous = meeting->previous;
}

/* Marks a rendezvous as done. It is remembered for a while, to detect extra members; the oldest one
 * is removed. */
static void rendezvous_retire(struct order *order, struct rendezvous *meeting,
                              struct rendezvous_key key)
{
    struct rendezvous_table *table = &order->rendezvous;
    meeting->done = true;
    if (table->done_count < RENDEZVOUS_DONE_KEPT) {
        table->done = array_reserve(table->done, &table->done_room, table->done_count + 1,
                                    sizeof *table->done);
        table->done[table->done_count++] = key;
        return;
    }
    struct rendezvous_key *oldest = &table->done[table->done_count++ % RENDEZVOUS_DONE_KEPT];
    struct rendezvous *old = map_get(&table->by_key, oldest->a, oldest->b);
    if (old && old->done) {
        save_rendezvous_gone(order, old);
        unlink_meeting(table, old);
        meeting_free(map_remove(&table->by_key, oldest->a, oldest->b));
    }
    *oldest = key;
}

static void rendezvous_leave(struct order *order, const struct arrival *a, uint64_t second)
{
    struct rendezvous *meeting = map_get(&order->rendezvous.by_key, a->key[0], second);
    if (meeting)
        rendezvous_touch(order, meeting);
}

void rendezvous_leave_all(struct order *order, const struct pending *pending)
{
    const struct arrival *a = &pending->arrival;
    if (!a->keyed && a->relation != RELATION_GROUP)
        return;
    if (a->stream) {
        byte_stream_leave(order, a);
        return;
    }
    if (!order->saves.frozen)
        return;
    bool one = !a->partner_count || (a->partners == &pending->one && a->partners[0].line);
    size_t keys = one || a->partners[0].line == 0
                      ? 0
                      : a->partner_count; /* index of the first key, see find_sends() */
    if (one)
        rendezvous_leave(order, a, a->key[1]);
    for (size_t i = 0; !one && i < a->partner_count; i++)
        rendezvous_leave(order, a, a->partners[keys + i].number);
}

void rendezvous_done(struct order *order, const struct arrival *a, uint64_t second)
{
    struct rendezvous *meeting = map_get(&order->rendezvous.by_key, a->key[0], second);
    if (!meeting || meeting->done)
        return;
    struct rendezvous_key key = {a->key[0], second};
    rendezvous_touch(order, meeting);
    if (a->relation == RELATION_SEND)
        meeting->expected = a->group_size;
    meeting->receives += a->relation == RELATION_RECEIVE;
    if (a->relation == RELATION_SYNC || a->relation == RELATION_GROUP ||
        (a->relation == RELATION_RECEIVE && a->group_size == 1) ||
        (meeting->expected && meeting->receives >= meeting->expected))
        rendezvous_retire(order, meeting, key);
}

void rendezvous_free_all(struct rendezvous_table *table)
{
    for (struct rendezvous *meeting = table->newest, *next; meeting; meeting = next) {
        next = meeting->next;
        meeting_free(meeting);
    }
    map_free(&table->by_key);
    free(table->done);
}
