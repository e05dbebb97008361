/* Waiting: each line with a head that cannot be delivered waits for one event of one other line. */
#include "server/order/delivery/waiting_lines.h"

#include "base/alloc.h"
#include "server/order/log/log_block.h"
#include "server/order/log/line_table.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <string.h>

void line_enqueue(struct order *order, uint32_t number)
{
    struct order_line *line = line_get(order, number);
    if (line->queued)
        return;
    line->queued = true;
    struct line_queue *work = &order->work.queue;
    if (work->count == work->room) {
        size_t room = work->room;
        work->items =
            array_reserve(work->items, &work->room, room ? 2 * room : 64, sizeof *work->items);
        work->room = room ? 2 * room : 64;
        memcpy(work->items + room, work->items, work->begin * sizeof *work->items);
    }
    work->items[(work->begin + work->count++) & (work->room - 1)] = number;
}

uint32_t line_dequeue(struct line_queue *queue)
{
    uint32_t number = queue->items[queue->begin];
    queue->begin = (queue->begin + 1) & (queue->room - 1);
    queue->count--;
    return number;
}

static void waiter_push(struct order_line *line, uint64_t number, uint32_t waiter)
{
    struct line_more *more = line_more(line);
    more->waiters = array_reserve(more->waiters, &more->waiter_room, line->waiter_count + 1,
                                  sizeof *more->waiters);
    binary_heap_sift_up(more->waiters, line->waiter_count++,
                        (struct binary_heap_item){number, waiter});
}

static uint32_t waiter_pop(struct order_line *line)
{
    return binary_heap_remove_top(line->more->waiters, line->waiter_count--).value;
}

void line_wake(struct order *order, uint32_t number)
{
    struct order_line *line = line_get(order, number);
    while (line->waiter_count && line->more->waiters[0].key <= line->delivered) {
        uint32_t waiter = waiter_pop(line);
        line_stop_waiting(line_get(order, waiter));
        line_enqueue(order, waiter);
    }
}

void line_wake_one(struct order *order, uint32_t number)
{
    struct order_line *line = line_get(order, number);
    if (!line->waiter_count)
        return;
    uint32_t waiter = waiter_pop(line);
    line_stop_waiting(line_get(order, waiter));
    line_enqueue(order, waiter);
}

bool sync_point_has(const struct sync_point *point, uint32_t line)
{
    for (size_t i = 0; i < point->count; i++)
        if (point->members[i]->arrival.at.line == line)
            return true;
    return false;
}

/* Does a line wait for a member? Else the point cannot close a cycle by waiting. */
static bool has_waiters(const struct order *order, const struct sync_point *point)
{
    bool has = false;
    for (size_t i = 0; i < point->count; i++)
        has |= line_get(order, point->members[i]->arrival.at.line)->waiter_count > 0;
    return has;
}

/* Has the point wait for `need`; returns false if that would close a cycle of waiting lines. */
bool sync_point_wait(struct order *order, const struct sync_point *point, struct event_id need)
{
    if (sync_point_has(point, need.line))
        return false;
    for (uint32_t line = has_waiters(order, point) ? need.line : 0; line;) {
        if (sync_point_has(point, line))
            return false;
        struct event_id wait = line_get(order, line)->more->wait;
        if (!wait.line || line_get(order, wait.line)->delivered >= wait.number)
            break;
        line = wait.line;
    }
    uint32_t waiter = point->members[0]->arrival.at.line;
    line_more(line_get(order, waiter))->wait = need;
    waiter_push(line_get(order, need.line), need.number, waiter);
    return true;
}
