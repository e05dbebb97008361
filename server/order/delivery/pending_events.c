/* Pending events: per line a ring of the next numbers, a map for numbers far ahead, and, if
 * there are many, a queue in the block store for events well behind the line's head. */
#include "server/order/delivery/pending_events.h"

#include "base/lower_bound.h"
#include "base/map.h"
#include "base/alloc.h"
#include "server/order/delivery/node_pool.h"
#include "server/order/log/line_table.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

#define RING_MAX 65536u /* numbers ahead of a line's head that its ring can hold */
#define SPILL_EVENTS 256u /* arrivals per part */
#define SPILL_NEAR 64u /* arrivals this close to the head are not spilled */

/* ---- a line's ring ---- */

static void ring_widen(struct order_line *line, uint64_t offset)
{
    struct pending_ring old = line->more->ring;
    size_t room = old.room ? old.room : 8;
    while (room <= offset)
        room *= 2;
    line_more(line)->ring.items = xcalloc(room, sizeof *line->more->ring.items);
    line->more->ring.room = (uint32_t)room;
    for (uint64_t n = line->delivered + 1; n != line->delivered + 1 + old.room; n++)
        line->more->ring.items[n & (room - 1)] = old.items[n & (old.room - 1)];
    free(old.items);
}

/* Returns the place of a number that is in the ring; NULL if there is no ring. */
static struct pending **ring_place(const struct order_line *line, uint64_t number)
{
    const struct pending_ring *ring = &line->more->ring;
    return ring->room ? &ring->items[number & (ring->room - 1)] : NULL;
}

/* ---- numbers far ahead: a heap finds the least ---- */

static void far_push(struct order_line *line, uint64_t number)
{
    if (!line->more->far)
        line_more(line)->far = xcalloc(1, sizeof *line->more->far);
    binary_heap_push(line->more->far, number, 0);
}

/* Removes numbers up to this one, which are not needed any more. */
static void far_drop(struct binary_heap *far, uint64_t number)
{
    while (far && far->count && far->items[0].key <= number)
        binary_heap_pop(far);
}

/* Returns the least number that is far ahead of the line's head, 0 if there is none; removes those
 * that were delivered. */
static uint64_t far_least(struct order_line *line)
{
    struct binary_heap *far = line->more->far;
    far_drop(far, line->delivered);
    return far && far->count ? far->items[0].key : 0;
}

static void far_free(struct binary_heap *far)
{
    if (far)
        binary_heap_free(far);
    free(far);
}

static void pending_place_node(struct pending_arrivals *pending, struct order_line *line,
                               struct pending *piece)
{
    uint64_t number = piece->arrival.at.number, offset = number - line->delivered;
    if (offset > RING_MAX) {
        map_put(&pending->far, piece->arrival.at.line, number, piece);
        far_push(line, number);
    } else {
        if (offset >= line->more->ring.room)
            ring_widen(line, offset);
        line->more->ring.items[number & (line->more->ring.room - 1)] = piece;
        line->more->ring.count++;
    }
    line->pending++;
    pending->in_memory++;
}

static struct pending *in_memory(const struct pending_arrivals *pending,
                                 const struct order_line *line, struct event_id at)
{
    /* The ring has only numbers within its length of the head, so that each place stands for one
     * number. */
    if (at.number > line->delivered && at.number - line->delivered < line->more->ring.room &&
        line->more->ring.items[at.number & (line->more->ring.room - 1)])
        return line->more->ring.items[at.number & (line->more->ring.room - 1)];
    return pending->far.count ? map_get(&pending->far, at.line, at.number) : NULL;
}

/* ---- batches: the number of pending arrivals of each, oldest first ---- */

static size_t batch_place(const struct pending_batches *batches, uint32_t batch)
{
    return LOWER_BOUND(i, 0, batches->count, batches->items[i].batch < batch);
}

static void batch_more(struct pending_batches *batches, uint32_t batch)
{
    struct batch_share *last = batches->count ? &batches->items[batches->count - 1] : NULL;
    if (last && last->batch == batch) {
        last->count++;
        return;
    }
    size_t i = batch_place(batches, batch);
    if (i == batches->count || batches->items[i].batch != batch) {
        size_t kept = 0; /* batches without pending arrivals are removed */
        for (size_t k = 0; k < batches->count; k++)
            if (batches->items[k].count)
                batches->items[kept++] = batches->items[k];
        batches->count = kept;
        i = batch_place(batches, batch);
        batches->items =
            array_reserve(batches->items, &batches->room, kept + 1, sizeof *batches->items);
        memmove(batches->items + i + 1, batches->items + i, (kept - i) * sizeof *batches->items);
        batches->items[i] = (struct batch_share){.batch = batch};
        batches->count++;
    }
    batches->items[i].count++;
}

static void batch_less(struct pending_batches *batches, uint32_t batch, uint64_t count)
{
    size_t last = batches->count - 1;
    size_t i =
        batches->count && batches->items[last].batch == batch ? last : batch_place(batches, batch);
    if (i < batches->count && batches->items[i].batch == batch)
        batches->items[i].count -=
            batches->items[i].count < count ? batches->items[i].count : count;
}

/* ---- the block store: a line's spilled arrivals have consecutive numbers ---- */

static void pending_spill_write(const struct block_store *shelf, struct pending_spill *spill)
{
    spill->parts =
        array_reserve(spill->parts, &spill->part_room, spill->part_count + 1, sizeof *spill->parts);
    spill->parts[spill->part_count++] = (struct spill_part){
        shelf->put(shelf->context, spill->buffer, spill->buffered * sizeof *spill->buffer),
        spill->batch};
    spill->buffered = 0;
}

static bool pending_may_spill(const struct pending_arrivals *pending, const struct order_line *line,
                              const struct arrival *a)
{
    if (a->keyed || a->partner_count > 1)
        return false;
    if (line->more->spill)
        return a->at.number == line->more->spill->end;
    return node_pool_is_large(pending) && a->at.number > line->delivered + SPILL_NEAR;
}

static void pending_spill_event(struct order *order, struct order_line *line,
                                const struct arrival *a)
{
    if (!line->more->spill) {
        line_more(line)->spill = xmalloc(sizeof *line->more->spill);
        *line->more->spill = (struct pending_spill){.begin = a->at.number, .end = a->at.number};
        line->more->spill->buffer = xmalloc(SPILL_EVENTS * sizeof *line->more->spill->buffer);
    }
    struct pending_spill *s = line->more->spill;
    if (s->buffered == 0)
        s->batch = a->batch;
    s->buffer[s->buffered] = (struct spilled_arrival){*a, {0, 0}};
    if (a->partner_count)
        s->buffer[s->buffered].partner = a->partners[0];
    s->buffered++;
    s->end++;
    line->pending++;
    if (s->buffered == SPILL_EVENTS)
        pending_spill_write(&order->shelf, s);
}

static void pending_spill_free(struct pending_spill *s)
{
    if (!s)
        return;
    free(s->buffer);
    free(s->parts);
    free(s);
}

static void note_moved(struct order *order, const struct pending *from, struct pending *to)
{
    struct event_id at = to->arrival.at;
    struct pending **in_ring = ring_place(line_get(order, at.line), at.number);
    if (in_ring && *in_ring == from)
        *in_ring = to;
    else
        map_put(&order->pending.far, at.line, at.number, to);
}

/* Sets `partners` and `waits`, which summarizes what is often tested. */
static void pending_note_waits(struct pending *piece, uint64_t lost)
{
    struct arrival *a = &piece->arrival;
    a->partners = &piece->one;
    a->waits = a->after[0].line || a->after[1].line ? WAITS_AFTER : 0;
    if (lost) {
        a->waits = WAITS_LOST;
        a->key[0] = lost;
    }
}

/* Loads the oldest spilled part of a line back into memory. */
static void pending_load_spilled(struct order *order, struct order_line *line, uint32_t number)
{
    struct pending_spill *s = line->more->spill;
    const struct spilled_arrival *from = s->buffer;
    uint8_t *part = NULL;
    size_t count = s->buffered, size = 0;
    uint32_t batch = s->batch;
    if (s->part_next < s->part_count) {
        count = SPILL_EVENTS;
        batch = s->parts[s->part_next].batch;
        part = order->shelf.get(order->shelf.context, s->parts[s->part_next++].place, &size);
        from = (const struct spilled_arrival *)(const void *)part;
    } else {
        s->buffered = 0;
    }
    struct arrival gap = {.at = {number, s->begin}};
    bool bad = from == NULL || (part && size != count * sizeof *from);
    s->begin += count;
    line->pending -= (uint32_t)count;
    if (bad) { /* unreadable: its numbers count as lost, so that the line continues */
        order->figures.pending -= count;
        batch_less(&order->pending.batches, batch, count);
        order->figures.damaged++;
        pending_put(order, &gap, count);
        count = 0;
    }
    for (size_t i = 0; i < count; i++) {
        struct pending *piece = node_pool_allocate(order, note_moved);
        *piece = (struct pending){.arrival = from[i].arrival, .one = from[i].partner};
        pending_note_waits(piece, 0);
        pending_place_node(&order->pending, line, piece);
    }
    free(part);
    if (s->begin == s->end) {
        pending_spill_free(s);
        line->more->spill = NULL;
    }
}

/* ---- interface ---- */

void pending_put(struct order *order, const struct arrival *a, uint64_t lost)
{
    struct order_line *line = line_get(order, a->at.line);
    order->figures.pending++;
    batch_more(&order->pending.batches, a->batch);
    if (!lost && pending_may_spill(&order->pending, line, a)) {
        pending_spill_event(order, line, a);
        return;
    }
    struct pending *piece = node_pool_allocate(order, note_moved);
    piece->arrival = *a;
    pending_note_waits(piece, lost);
    struct event_id *partners = &piece->one;
    if (a->partner_count > 1)
        partners = xmalloc(a->partner_count * sizeof *partners);
    if (a->partner_count)
        memcpy(partners, a->partners, a->partner_count * sizeof *partners);
    piece->arrival.partners = partners;
    pending_place_node(&order->pending, line, piece);
}

bool pending_is(const struct order *order, struct event_id at)
{
    const struct order_line *line = line_get(order, at.line);
    return line && line->pending &&
           ((line->more->spill && at.number >= line->more->spill->begin &&
             at.number < line->more->spill->end) ||
            in_memory(&order->pending, line, at));
}

struct pending *pending_at(const struct order *order, struct event_id at)
{
    const struct order_line *line = line_get(order, at.line);
    return line && line->pending ? in_memory(&order->pending, line, at) : NULL;
}

struct pending *pending_head(struct order *order, uint32_t number)
{
    struct order_line *line = line_get(order, number);
    if (!line->pending)
        return NULL;
    if (line->more->spill && line->more->spill->begin == line->delivered + 1)
        pending_load_spilled(order, line, number);
    return in_memory(&order->pending, line, (struct event_id){number, line->delivered + 1});
}

void pending_discard(struct order *order, struct pending *piece)
{
    struct event_id at = piece->arrival.at;
    struct order_line *line = line_get(order, at.line);
    struct pending **in_ring = ring_place(line, at.number);
    if (in_ring && *in_ring == piece) {
        *in_ring = NULL;
        line->more->ring.count--;
    } else {
        map_remove(&order->pending.far, at.line, at.number);
        far_drop(line->more->far, at.number); /* it was the line's head */
    }
    batch_less(&order->pending.batches, piece->arrival.batch, 1);
    line->pending--;
    order->pending.in_memory--;
    order->figures.pending--;
    node_pool_release(&order->pending, piece);
}

uint64_t pending_least(const struct order *order, uint32_t number)
{
    struct order_line *line = line_get(order, number);
    uint64_t least = line->more->spill ? line->more->spill->begin : 0, far = far_least(line);
    if (far && (!least || far < least))
        least = far;
    /* The ring has only numbers within its length of the head. Each place is examined only once,
     * since closing the gap moves the head past it. */
    const struct pending_ring *ring = &line->more->ring;
    uint64_t end = line->delivered + 1 + ring->room;
    for (uint64_t n = line->delivered + 1; ring->count && n != end && (!least || n < least); n++)
        if (ring->items[n & (ring->room - 1)])
            least = n;
    return least;
}

uint32_t pending_batch(const struct order *order)
{
    const struct pending_batches *batches = &order->pending.batches;
    for (size_t i = 0; i < batches->count; i++)
        if (batches->items[i].count)
            return batches->items[i].batch;
    return UINT32_MAX;
}

/* ---- iteration ---- */

void pending_walk_begin(struct order *order, struct pending_walk *walk)
{
    *walk = (struct pending_walk){order, node_pool_first(&order->pending), order->pending.walks};
    order->pending.walks = walk;
}

void pending_walk_end(struct pending_walk *walk)
{
    struct pending_walk **at = walk->order ? &walk->order->pending.walks : NULL;
    while (at && *at && *at != walk)
        at = &(*at)->others;
    if (at && *at)
        *at = walk->others;
    walk->order = NULL;
}

bool pending_walk_next(struct pending_walk *walk, struct event_id *at)
{
    while (walk->at) {
        const struct pending *piece = walk->at;
        walk->at = node_pool_next(piece);
        *at = piece->arrival.at;
        if (!pending_lost(piece))
            return true;
    }
    return false;
}

const struct arrival *order_pending_at(const struct order *order, struct event_id at)
{
    const struct pending *piece = pending_at(order, at);
    return piece && !pending_lost(piece) ? &piece->arrival : NULL;
}

void order_pending(const struct order *order, uint64_t most,
                   void (*visit)(void *context, const struct arrival *), void *context)
{
    for (const struct pending *piece = node_pool_first(&order->pending); piece && most;
         piece = node_pool_next(piece))
        if (!pending_lost(piece)) {
            visit(context, &piece->arrival);
            most--;
        }
}

void pending_free_all(struct order *order)
{
    node_pool_free_all(&order->pending);
    for (size_t l = 0; l < order->lines.visible.count; l++) {
        if (line_is_evicted(order, l))
            continue;
        struct line_more *more = order->lines.visible.items[l].more;
        free(more->ring.items);
        pending_spill_free(more->spill);
        far_free(more->far);
    }
    free(order->pending.batches.items);
    map_free(&order->pending.far);
}
