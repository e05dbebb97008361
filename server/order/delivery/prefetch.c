/* Prefetching of what delivery will read soon into the processor's caches; changes nothing. With
 * ten thousand lines, hardly any data that an event needs is cached. Each stage reads only what the
 * stage before it prefetched. */
#include "server/order/delivery/pending_events.h"
#include "server/order/log/log_block.h"
#include "server/order/log/line_table.h"
#include "server/order/log/position_list.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

/* The barrier keeps the compiler from removing functions that only prefetch, as if they had no
 * effect. */
static inline void prefetch_address(const void *at)
{
    __builtin_prefetch(at, 1);
    __asm__ volatile("");
}

static void prefetch_line(const struct order_line *line)
{
    if (!line)
        return;
    prefetch_address(line);
    prefetch_address(&line->positions); /* its other half */
}

/* Prefetches the place for the position of the line's next event. */
static void prefetch_end(const struct order_line *line)
{
    if (line->positions.tail)
        prefetch_address(&line->positions.tail[line->positions.count & (POSITION_LIST_NODE - 1)]);
}

/* Returns the line of the send that an event receives; NULL if there is none. */
static const struct order_line *sender_of(const struct order *order, const struct arrival *a)
{
    return a->relation == RELATION_RECEIVE && !a->keyed && a->partner_count == 1
               ? line_place(order, a->partners[0].line)
               : NULL;
}

/* Returns where the position of a recent send is stored; NULL: it is unknown yet, or not in
 * memory. */
static const uint64_t *send_of(const struct order_line *from, const struct arrival *a)
{
    uint64_t number = a->partners[0].number, back = from->delivered - number;
    uint64_t n = from->positions.count & (POSITION_LIST_NODE - 1);
    return number <= from->delivered && back < n && from->positions.tail
               ? &from->positions.tail[n - 1 - back]
               : NULL;
}

static void prefetch_send(const struct order *order, const struct arrival *a)
{
    const struct order_line *from = sender_of(order, a);
    const uint64_t *send = from ? send_of(from, a) : NULL;
    if (send)
        prefetch_address(send);
    else if (from && from->more) /* the receive will wait for it */
        prefetch_address(from->more);
}

static void prefetch_row(const struct order *order, const struct arrival *a)
{
    const struct order_line *from = sender_of(order, a);
    const uint64_t *send = from ? send_of(from, a) : NULL;
    if (from && !send && from->waiter_count)
        prefetch_address(from->more->waiters);
    if (!send || *send >= order->log.count || *send / BLOCK_EVENTS < order->log.packed)
        return;
    const struct log_block *rows = order->log.blocks[*send / BLOCK_EVENTS].rows;
    uint32_t i = *send % BLOCK_EVENTS; /* an open block is stored by columns */
    prefetch_address(rows->bytes + block_column(FIELD_RECEIVE) + 8 * (size_t)i);
    prefetch_address(rows->bytes + block_column(FIELD_FLAGS) + 2 * (size_t)i);
}

#define STAGE_APART 3u /* lines between two stages */
#define STAGES 7u

/* Returns the heap of lines that the line's next events may wake; NULL if none waits. */
static const struct binary_heap_item *waiter_of(const struct order_line *line)
{
    return line->waiter_count ? line->more->waiters : NULL;
}

/* Returns the line's next pending event, or the one after it; NULL if it is not in the ring. */
static const struct pending *prefetch_node_of(const struct order_line *line, unsigned ahead)
{
    const struct pending_ring *ring = &line->more->ring;
    return ring->room ? ring->items[(line->delivered + 1 + ahead) & (ring->room - 1)] : NULL;
}

static void prefetch_nodes(const struct order_line *line)
{
    for (unsigned ahead = 0; ahead < 2; ahead++) {
        const struct pending *piece = prefetch_node_of(line, ahead);
        if (!piece)
            return;
        prefetch_address(piece);
        prefetch_address(&piece->one);
    }
}

void pending_prefetch_behind(const struct order_line *line)
{
    const struct pending *piece = prefetch_node_of(line, 1);
    if (piece)
        prefetch_address(piece);
}

static void prefetch_waiter(const struct order *order, const struct order_line *line, bool more)
{
    const struct binary_heap_item *waiter = waiter_of(line);
    const struct order_line *waiting = waiter ? line_place(order, waiter->value) : NULL;
    if (!more)
        prefetch_line(waiting);
    else if (waiting && waiting->more)
        prefetch_address(waiting->more);
}

/* Prefetches the place of the line's next pending event. */
static void prefetch_ring(const struct order_line *line)
{
    const struct pending_ring *ring = &line->more->ring;
    if (ring->room)
        prefetch_address(&ring->items[(line->delivered + 1) & (ring->room - 1)]);
}

static void prefetch_head(const struct order *order, const struct order_line *line, unsigned stage)
{
    const struct pending *piece = stage >= 3 ? prefetch_node_of(line, 0) : NULL;
    if (stage == 0) {
        prefetch_address(line->more);
        prefetch_end(line);
    } else if (stage == 1) {
        prefetch_address(waiter_of(line));
        prefetch_ring(line);
    } else if (stage == 2) {
        prefetch_nodes(line);
        prefetch_waiter(order, line, false);
    } else if (stage == 3) {
        if (piece)
            prefetch_line(sender_of(order, &piece->arrival));
        prefetch_waiter(order, line, true);
    } else if (piece && stage == 4) {
        prefetch_send(order, &piece->arrival);
    } else if (piece) {
        prefetch_row(order, &piece->arrival);
    }
}

/* Prefetches what checking the heads of queued lines needs, in stages: the line, its pending
 * events, the place of the head, the head, and what it follows. */
void pending_prefetch(const struct order *order)
{
    const struct line_queue *work = &order->work.queue;
    size_t far = STAGE_APART * STAGES;
    if (far < work->count)
        prefetch_line(line_place(order, work->items[(work->begin + far) & (work->room - 1)]));
    for (unsigned stage = 0; stage < STAGES - 1; stage++) {
        far -= STAGE_APART;
        if (far >= work->count)
            continue;
        uint32_t number = work->items[(work->begin + far) & (work->room - 1)];
        const struct order_line *line = line_place(order, number);
        if (line->pending)
            prefetch_head(order, line, stage);
    }
}
