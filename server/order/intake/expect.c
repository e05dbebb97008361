/* Fetching into the processor's caches what will be looked at soon; changes nothing.  With ten thousand lines hardly
 * anything that an event needs is there.  Each stage looks only at what the stage before it asked for. */
#include "server/order/intake/pending.h"
#include "server/order/log/block.h"
#include "server/order/log/lines.h"
#include "server/order/log/series.h"
#include "server/order/order.h"
#include "server/order/state.h"
#include "wire/event.h"

/* The compiler is not to take a function that only fetches for one that has no effect, and leave it out. */
static inline void fetch(const void *at)
{
    __builtin_prefetch(at, 1);
    __asm__ volatile("");
}

static void expect_line(const struct line *line)
{
    if (!line)
        return;
    fetch(line);
    fetch(&line->positions); /* its other half */
}

/* Where the position of the next event of a line goes. */
static void expect_end(const struct line *line)
{
    if (line->positions.tail)
        fetch(&line->positions.tail[line->positions.count & (SERIES_NODE - 1)]);
}

/* The line of the send that an event receives, NULL if there is none. */
static const struct line *sender_of(const struct order *order, const struct arrival *a)
{
    return a->relation == RELATION_RECEIVE && !a->keyed && a->partner_count == 1
               ? line_place(order, a->partners[0].line)
               : NULL;
}

/* Where the position of the send is kept, if that was not long ago; NULL: nobody knows yet, or not here. */
static const uint64_t *send_of(const struct line *from, const struct arrival *a)
{
    uint64_t number = a->partners[0].number, back = from->delivered - number;
    uint64_t n = from->positions.count & (SERIES_NODE - 1);
    return number <= from->delivered && back < n && from->positions.tail
               ? &from->positions.tail[n - 1 - back]
               : NULL;
}

static void expect_send(const struct order *order, const struct arrival *a)
{
    const struct line *from = sender_of(order, a);
    const uint64_t *send = from ? send_of(from, a) : NULL;
    if (send)
        fetch(send);
    else if (from && from->more) /* it will be waited for */
        fetch(from->more);
}

static void expect_row(const struct order *order, const struct arrival *a)
{
    const struct line *from = sender_of(order, a);
    const uint64_t *send = from ? send_of(from, a) : NULL;
    if (from && !send && from->waiter_count)
        fetch(from->more->waiters);
    if (!send || *send >= order->count || *send / BLOCK_EVENTS < order->packed)
        return;
    const struct block *rows = order->blocks[*send / BLOCK_EVENTS].rows;
    uint32_t i = *send % BLOCK_EVENTS; /* it is open: its rows lie by columns */
    fetch(rows->bytes + block_column(FIELD_RECEIVE) + 8 * (size_t)i);
    fetch(rows->bytes + block_column(FIELD_FLAGS) + 2 * (size_t)i);
}

/* ---- what comes in ---- */

/* Behind others of its line that wait, it waits, too. */
static bool will_wait(const struct line *line) { return line->pending || !line->more; }

static void expect_ring(const struct line *line, const struct arrival *a)
{
    const struct ring *ring = line->more ? &line->more->ring : NULL;
    if (ring && ring->room)
        fetch(&ring->items[a->at.number & (ring->room - 1)]);
}

void order_expect(const struct order *order, const struct arrival *a, enum expectation stage)
{
    const struct line *line = line_place(order, a->at.line);
    if (stage == EXPECT_LINES) {
        expect_line(line);
        expect_line(sender_of(order, a));
    } else if (line && will_wait(line)) {
        if (stage == EXPECT_POSITIONS)
            fetch(line->more);
        else
            expect_ring(line, a);
    } else if (line && stage == EXPECT_POSITIONS) {
        expect_end(line);
        expect_send(order, a);
        if (line->waiter_count)
            fetch(line->more);
    } else if (line) {
        expect_row(order, a);
    }
}

/* ---- the heads of lines that are to be looked at ---- */

#define STAGE_APART 3u /* lines between two stages */
#define STAGES 7u

/* Who waits for the event is woken by it. */
static const struct heap_item *waiter_of(const struct line *line)
{
    return line->waiter_count ? line->more->waiters : NULL;
}

/* The next piece of a line that is to be delivered, or the one behind it. */
static const struct pending *piece_of(const struct line *line, unsigned ahead)
{
    const struct ring *ring = &line->more->ring;
    return ring->room ? ring->items[(line->delivered + 1 + ahead) & (ring->room - 1)] : NULL;
}

static void expect_pieces(const struct line *line)
{
    for (unsigned ahead = 0; ahead < 2; ahead++) {
        const struct pending *piece = piece_of(line, ahead);
        if (!piece)
            return;
        fetch(piece);
        fetch(&piece->one);
    }
}

void pending_expect_behind(const struct line *line)
{
    const struct pending *piece = piece_of(line, 1);
    if (piece)
        fetch(piece);
}

static void expect_waiter(const struct order *order, const struct line *line, bool more)
{
    const struct heap_item *waiter = waiter_of(line);
    const struct line *who = waiter ? line_place(order, waiter->value) : NULL;
    if (!more)
        expect_line(who);
    else if (who && who->more)
        fetch(who->more);
}

static void expect_head(const struct order *order, const struct line *line, unsigned stage)
{
    const struct pending *piece = stage >= 3 ? piece_of(line, 0) : NULL;
    if (stage == 0) {
        fetch(line->more);
        expect_end(line);
    } else if (stage == 1) {
        fetch(waiter_of(line));
        if (line->more->ring.room)
            expect_ring(line, &(struct arrival){.at.number = line->delivered + 1});
    } else if (stage == 2) {
        expect_pieces(line);
        expect_waiter(order, line, false);
    } else if (stage == 3) {
        if (piece)
            expect_line(sender_of(order, &piece->arrival));
        expect_waiter(order, line, true);
    } else if (piece && stage == 4) {
        expect_send(order, &piece->arrival);
    } else if (piece) {
        expect_row(order, &piece->arrival);
    }
}

/* Everything that is done with the head of a line: the line, what of it waits, the place of the head, the head, and
 * what it follows. */
void pending_expect(const struct order *order)
{
    const struct queue *work = &order->work;
    size_t far = STAGE_APART * STAGES;
    if (far < work->count)
        expect_line(line_place(order, work->items[(work->begin + far) & (work->room - 1)]));
    for (unsigned stage = 0; stage < STAGES - 1; stage++) {
        far -= STAGE_APART;
        if (far >= work->count)
            continue;
        uint32_t number = work->items[(work->begin + far) & (work->room - 1)];
        const struct line *line = line_place(order, number);
        if (line->pending)
            expect_head(order, line, stage);
    }
}
