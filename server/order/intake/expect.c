/* Fetching into the processor's caches what will be looked at soon; changes nothing.  With ten thousand lines hardly
 * anything that an event needs is there.  Each stage looks only at what the stage before it asked for. */
#include "server/order/intake/pending.h"
#include "server/order/log/block.h"
#include "server/order/log/lines.h"
#include "server/order/log/series.h"
#include "server/order/order.h"
#include "server/order/state.h"
#include "wire/event.h"

/* The line of an event that was not long ago: where its newest positions are kept. */
static const uint64_t *recent(const struct line *line, uint64_t number)
{
    uint32_t n = series_tail(&line->positions, 0);
    uint64_t back = line->delivered - number;
    return number <= line->delivered && back < n ? &line->positions.tail[n - 1 - back] : NULL;
}

static void expect_line(const struct line *line)
{
    __builtin_prefetch(line, 1);
    __builtin_prefetch(&line->positions, 1); /* its other half */
}

/* Of the line of an event: where its position goes, and what of it waits. */
static void expect_place(const struct line *line)
{
    if (line->positions.tail)
        __builtin_prefetch(&line->positions.tail[series_tail(&line->positions, 0)], 1);
    if (line->pending || line->waiter_count)
        __builtin_prefetch(line->more, 1);
    if (line->neighbour_count > NEIGHBOURS_NEAR)
        __builtin_prefetch(line->neighbours.far);
}

static void expect_lines(const struct order *order, const struct arrival *a)
{
    const struct line *line = line_place(order, a->at.line);
    const struct line *from = a->partner_count ? line_place(order, a->partners[0].line) : NULL;
    if (line)
        expect_line(line);
    if (from)
        expect_line(from);
}

/* Where the position of the send is kept that is received; NULL: nobody knows yet, or not here. */
static const uint64_t *send_of(const struct order *order, const struct arrival *a)
{
    const struct line *from = a->relation == RELATION_RECEIVE && a->partner_count
                                  ? line_place(order, a->partners[0].line)
                                  : NULL;
    return from && from->positions.tail ? recent(from, a->partners[0].number) : NULL;
}

static void expect_positions(const struct order *order, const struct arrival *a)
{
    const struct line *line = line_place(order, a->at.line);
    const struct line *from = a->partner_count ? line_place(order, a->partners[0].line) : NULL;
    const uint64_t *send = send_of(order, a);
    if (line && line->more) /* else it is away */
        expect_place(line);
    if (send)
        __builtin_prefetch(send);
    else if (from && (from->pending || from->waiter_count)) /* it will be waited for */
        __builtin_prefetch(from->more, 1);
}

static void expect_rows(const struct order *order, const struct arrival *a)
{
    const struct line *line = line_place(order, a->at.line);
    const struct ring *ring = line && line->more ? &line->more->ring : NULL;
    const uint64_t *send = send_of(order, a);
    if (ring && ring->room)
        __builtin_prefetch(&ring->items[a->at.number & (ring->room - 1)], 1);
    if (send && *send < order->count && *send / BLOCK_EVENTS >= order->packed) {
        const struct block *rows = order->blocks[*send / BLOCK_EVENTS].rows;
        block_expect(rows, *send % BLOCK_EVENTS, FIELD_RECEIVE);
        block_expect(rows, *send % BLOCK_EVENTS, FIELD_FLAGS);
    }
}

void order_expect(const struct order *order, const struct arrival *a, enum expectation stage)
{
    if (stage == EXPECT_LINES)
        expect_lines(order, a);
    else if (stage == EXPECT_POSITIONS)
        expect_positions(order, a);
    else
        expect_rows(order, a);
}

/* ---- the heads of lines that are to be looked at ---- */

/* Who waits for the event is woken by it. */
static void expect_waiter(const struct order *order, const struct line *line, unsigned stage)
{
    const struct heap_item *waiter = line->more->waiters;
    const struct line *who = stage > 1 ? line_place(order, waiter->value) : NULL;
    if (stage == 0)
        __builtin_prefetch(waiter);
    else if (stage == 2)
        __builtin_prefetch(who, 1);
    else if (stage == 3 && who->more)
        __builtin_prefetch(who->more, 1);
}

static void expect_piece(const struct order *order, const struct pending *piece, unsigned stage)
{
    if (stage == 0) {
        for (size_t i = 0; i < sizeof *piece; i += 64)
            __builtin_prefetch((const char *)piece + i, 1);
        return;
    }
    if (stage == 1 && piece->next)
        __builtin_prefetch(&piece->next->previous, 1);
    if (stage == 1 && piece->previous)
        __builtin_prefetch(&piece->previous->next, 1);
    order_expect(order, &piece->arrival, (enum expectation)(stage - 1));
}

/* Everything that is done with the head of a line: the line, what of it waits, the place of the head, the head,
 * those before and after it among all that wait, and what it follows. */
void pending_expect(const struct order *order, uint32_t number, unsigned stage)
{
    const struct line *line = line_place(order, number);
    if (stage == 0) {
        __builtin_prefetch(line, 1);
        __builtin_prefetch(&line->positions, 1);
        return;
    }
    if (!line->pending)
        return;
    if (stage == 1) {
        __builtin_prefetch(line->more, 1);
        return;
    }
    if (stage >= 3 && line->waiter_count)
        expect_waiter(order, line, stage - 3);
    const struct ring *ring = &line->more->ring;
    struct pending *const *at =
        ring->room ? &ring->items[(line->delivered + 1) & (ring->room - 1)] : NULL;
    if (stage == 2)
        __builtin_prefetch(at, 1);
    else if (at && *at)
        expect_piece(order, *at, stage - 3);
}
