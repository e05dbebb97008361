/* Uncertain events in the causal past of each event.
 *
 * Uncertain events that are ordered one after the other make a chain; for each chain it is
 * enough to know how many of its events happened before an event.  These numbers, by chain, make
 * a set: a vector clock (Fidge 1988, Mattern 1989) that counts only uncertain events.  Equal
 * sets are kept once and have one number, so that comparing two integers shows whether two
 * events have the same set, and along a line only the few changes are kept.  One pass over the
 * log computes all sets; it continues as the log grows. */

#include "base/lower_bound.h"
#include "base/map.h"
#include "base/alloc.h"
#include "server/order/log/log_block.h"
#include "server/order/log/line_table.h"
#include "server/order/log/event_log.h"
#include "server/order/order.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

#ifndef DOUBTS_BYTES
/* beyond this, events that are not ordered are of unknown order */
#define DOUBTS_BYTES ((size_t)512 << 20)
#endif
#define JOINS_KEPT 1000000u

struct uncertainty_set { /* the number of events of each chain, in `numbers` from `offset` on */
    size_t offset;
    uint32_t count;
};

struct uncertainty_history { /* of a line: the positions at which the set of its events changes */
    struct uncertainty_change {
        uint64_t position;
        uint32_t set;
    } *changes;
    size_t count, room;
    uint32_t chain; /* 1 + the chain that its uncertain events are in, 0: none yet */
};

struct uncertainty {
    uint64_t at;   /* all events before this position are processed */
    bool full, damaged;
    struct uncertainty_chain {
        uint8_t *reasons;
        size_t count, room;
        uint32_t has; /* bits: reasons that occur in it */
    } *chains;
    size_t chain_count, chain_room;
    struct uncertainty_set *sets; /* the first is empty */
    size_t set_count, set_room;
    uint32_t *numbers;
    size_t number_count, number_room;
    struct map index, joins; /* hash, i -> 1 + a set; two sets -> 1 + their union */
    struct uncertainty_history *lines, *hidden;
    size_t line_room, hidden_room, bytes;
    uint32_t *scratch;
    size_t scratch_room;
};

void uncertainty_drop(struct uncertain_events *events)
{
    struct uncertainty *d = events->past_sets;
    if (!d)
        return;
    for (size_t i = 0; i < d->chain_count; i++)
        free(d->chains[i].reasons);
    for (size_t i = 0; i < d->line_room; i++)
        free(d->lines[i].changes);
    for (size_t i = 0; i < d->hidden_room; i++)
        free(d->hidden[i].changes);
    free(d->chains);
    free(d->sets);
    free(d->numbers);
    free(d->lines);
    free(d->hidden);
    free(d->scratch);
    map_free(&d->index);
    map_free(&d->joins);
    free(d);
    events->past_sets = NULL;
}

/* ---- sets ---- */

static uint64_t hash_of(const uint32_t *numbers, uint32_t count)
{
    uint64_t h = 14695981039346656037u;
    for (uint32_t i = 0; i < count; i++)
        h = (h ^ numbers[i]) * 1099511628211u;
    return h;
}

/* Returns the set of the numbers in `scratch`; adds it if it is new. */
static uint32_t set_of(struct uncertainty *d, uint32_t count)
{
    while (count && d->scratch[count - 1] == 0)
        count--;
    uint64_t h = hash_of(d->scratch, count);
    uint64_t i = 0;
    for (uintptr_t known; (known = (uintptr_t)map_get(&d->index, h, i)) != 0; i++) {
        const struct uncertainty_set *set = &d->sets[known - 1];
        if (set->count == count &&
            memcmp(d->numbers + set->offset, d->scratch, count * sizeof *d->scratch) == 0)
            return (uint32_t)(known - 1);
    }
    d->bytes += count * sizeof *d->scratch + sizeof *d->sets + sizeof(struct map_entry);
    d->numbers =
        array_reserve(d->numbers, &d->number_room, d->number_count + count + 1, sizeof *d->numbers);
    memcpy(d->numbers + d->number_count, d->scratch, count * sizeof *d->scratch);
    d->sets = array_reserve(d->sets, &d->set_room, d->set_count + 1, sizeof *d->sets);
    d->sets[d->set_count] = (struct uncertainty_set){d->number_count, count};
    d->number_count += count;
    map_put(&d->index, h, i, (void *)(uintptr_t)(d->set_count + 1));
    return (uint32_t)d->set_count++;
}

static uint32_t uncertainty_count_in(const struct uncertainty *d, uint32_t set, uint32_t chain)
{
    return chain < d->sets[set].count ? d->numbers[d->sets[set].offset + chain] : 0;
}

static void copy_set(struct uncertainty *d, uint32_t set, uint32_t count)
{
    d->scratch = array_reserve(d->scratch, &d->scratch_room, count + 1, sizeof *d->scratch);
    for (uint32_t i = 0; i < count; i++)
        d->scratch[i] = uncertainty_count_in(d, set, i);
}

static uint32_t uncertainty_join_sets(struct uncertainty *d, uint32_t a, uint32_t b)
{
    if (a == b || b == 0)
        return a;
    if (a == 0)
        return b;
    uint32_t low = a < b ? a : b, high = a < b ? b : a;
    uintptr_t known = (uintptr_t)map_get(&d->joins, low, high);
    if (known)
        return (uint32_t)(known - 1);
    if (d->joins.count >= JOINS_KEPT)
        map_free(&d->joins);
    uint32_t count = d->sets[a].count > d->sets[b].count ? d->sets[a].count : d->sets[b].count;
    copy_set(d, a, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t other = uncertainty_count_in(d, b, i);
        d->scratch[i] = other > d->scratch[i] ? other : d->scratch[i];
    }
    uint32_t set = set_of(d, count);
    map_put(&d->joins, low, high, (void *)(uintptr_t)(set + 1));
    return set;
}

/* ---- lines ---- */

static struct uncertainty_history *history_of(const struct uncertainty *d, uint32_t line)
{
    uint32_t i = (line & ~HIDDEN_LINE) - 1;
    return line & HIDDEN_LINE ? (i < d->hidden_room ? &d->hidden[i] : NULL)
                              : (i < d->line_room ? &d->lines[i] : NULL);
}

/* Returns the index of the last change at or before a position, or SIZE_MAX. */
static size_t change_at(const struct uncertainty_history *h, uint64_t position)
{
    size_t count = h->count;
    if (count && h->changes[count - 1].position <= position)
        return count - 1;
    return LOWER_BOUND(i, 0, count, h->changes[i].position <= position) - 1;
}

static uint32_t set_at(const struct uncertainty *d, uint32_t line, uint64_t position)
{
    const struct uncertainty_history *h = history_of(d, line);
    size_t i = h ? change_at(h, position) : SIZE_MAX;
    return i == SIZE_MAX ? 0 : h->changes[i].set;
}

static void set_from(struct uncertainty *d, uint32_t line, uint64_t position, uint32_t set)
{
    struct uncertainty_history *h = history_of(d, line);
    if ((h->count ? h->changes[h->count - 1].set : 0) == set)
        return;
    h->changes = array_reserve(h->changes, &h->room, h->count + 1, sizeof *h->changes);
    h->changes[h->count++] = (struct uncertainty_change){position, set};
    d->bytes += sizeof *h->changes;
}

/* ---- the pass ---- */

/* Returns one reason of the discarded uncertain events, which stands for all of them; UNTRACED_NONE
 * if there are none. */
static uint32_t uncertainty_discarded_reason(const struct uncertain_events *events)
{
    return events->discarded_reasons ? (uint32_t)__builtin_ctz(events->discarded_reasons)
                                     : UNTRACED_NONE;
}

/* Returns the reason that follows from the event's own row: the stored one, or a lost partner, lost
 * numbers before it, or a discarded predecessor on its line. */
static uint32_t uncertainty_own_reason(const struct order *order, uint64_t position,
                                       const struct order_line *line)
{
    const struct log_block *rows = log_block(order, position);
    uint32_t i = position % BLOCK_EVENTS;
    uint64_t flags = block_get(rows, i, FIELD_FLAGS), back = block_get(rows, i, FIELD_PREVIOUS);
    if (flags >> FIELD_UNCERTAINTY_SHIFT)
        return (uint32_t)(flags >> FIELD_UNCERTAINTY_SHIFT);
    if (flags & FIELD_PARTNER_LOST || (flags & FIELD_AFTER_GAP && !line->shared))
        return UNTRACED_LOST;
    return !line->shared && back > position - order->log.first
               ? uncertainty_discarded_reason(&order->uncertain)
               : UNTRACED_NONE;
}

/* Returns the union of the sets of an event's predecessors, apart from the members of its point.
 * *doubt receives a reason, unless it has one, if a predecessor is discarded. */
static uint32_t uncertainty_inherited_set(struct order *order, uint64_t position, uint32_t number,
                                          uint32_t *doubt)
{
    struct uncertainty *d = order->uncertain.past_sets;
    const struct order_line *line = line_get(order, number);
    uint32_t set = line->shared ? 0 : set_at(d, number, position);
    struct block_edges edges = block_edges(log_block(order, position), position % BLOCK_EVENTS);
    for (uint32_t k = 0; k < edges.count; k++) {
        uint64_t from = position - block_edge(&edges, k);
        if (from < order->log.first)
            *doubt = *doubt ? *doubt : uncertainty_discarded_reason(&order->uncertain);
        else
            set = uncertainty_join_sets(
                d, set, set_at(d, block_line_of(log_get(order, from, FIELD_LINE)), from));
        if (edges.more) /* the block may have left the cache */
            edges = block_edges(log_block(order, position), position % BLOCK_EVENTS);
    }
    return set;
}

/* Adds an uncertain event to the chain of its line if it continues that chain, or to a new one. */
static uint32_t uncertainty_add_reason(struct uncertainty *d, uint32_t set, uint32_t line,
                                       uint32_t reason)
{
    struct uncertainty_history *h = history_of(d, line);
    uint32_t chain = h->chain - 1;
    if (!h->chain || uncertainty_count_in(d, set, chain) != d->chains[chain].count) {
        d->chains = array_reserve(d->chains, &d->chain_room, d->chain_count + 1, sizeof *d->chains);
        d->chains[d->chain_count++] = (struct uncertainty_chain){0};
        chain = (uint32_t)d->chain_count - 1;
        h->chain = chain + 1;
    }
    struct uncertainty_chain *c = &d->chains[chain];
    c->reasons = array_reserve(c->reasons, &c->room, c->count + 1, 1);
    c->reasons[c->count++] = (uint8_t)reason;
    c->has |= UNTRACED_BIT(reason);
    uint32_t count = d->sets[set].count > chain ? d->sets[set].count : chain + 1;
    copy_set(d, set, count);
    d->scratch[chain] = (uint32_t)c->count;
    d->bytes++;
    return set_of(d, count);
}

static void uncertainty_visit_event(struct order *order, uint64_t first, uint64_t last)
{
    struct uncertainty *d = order->uncertain.past_sets;
    uint32_t set = 0, doubt = UNTRACED_NONE, chain = 0;
    for (uint64_t p = first; p <= last; p++) {
        uint32_t number = block_line_of(log_get(order, p, FIELD_LINE));
        const struct order_line *line = line_get(order, number);
        if (!line) {
            d->damaged = true;
            return;
        }
        if (log_get(order, p, FIELD_FLAGS) & FIELD_INCONSISTENT)
            return;
        uint32_t own = uncertainty_own_reason(order, p, line);
        set = uncertainty_join_sets(d, set, uncertainty_inherited_set(order, p, number, &own));
        doubt = doubt ? doubt : own;
        chain = chain && !(line_get(order, chain)->shared && !line->shared) ? chain : number;
    }
    if (doubt)
        set = uncertainty_add_reason(d, set, chain, doubt);
    for (uint64_t p = first; p <= last; p++)
        set_from(d, block_line_of(log_get(order, p, FIELD_LINE)), p, set);
}

static struct uncertainty *uncertainty_begin(struct order *order)
{
    struct uncertain_events *events = &order->uncertain;
    struct uncertainty *d = events->past_sets;
    if (!d) {
        events->past_sets = d = xcalloc(1, sizeof *d);
        d->at = events->discarded_reasons || events->first < order->log.first ? order->log.first
                                                                              : events->first;
        d->at -= d->at < order->log.count ? log_get(order, d->at, FIELD_POINT) : 0;
        d->scratch = array_reserve(NULL, &d->scratch_room, 1, sizeof *d->scratch);
        set_of(d, 0);
    }
    d->lines = array_reserve_zeroed(d->lines, &d->line_room, order->lines.visible.count + 1,
                                    sizeof *d->lines);
    d->hidden = array_reserve_zeroed(d->hidden, &d->hidden_room, order->lines.hidden.count + 1,
                                     sizeof *d->hidden);
    return d;
}

bool order_uncertainty_step(const struct order *constant, uint64_t end, uint64_t budget)
{
    /* a cache is not part of the order's state */
    struct order *order = (struct order *)(uintptr_t)constant;
    end = end < order->log.count ? end : order->log.count;
    end =
        end ? order_point_end(order, end - 1) + 1 : 0; /* all members of a point belong together */
    if (!order->uncertain.count ||
        (order->uncertain.first >= end && !order->uncertain.discarded_reasons))
        return true;
    struct uncertainty *d = uncertainty_begin(order);
    while (d->at < end && budget && !d->full) {
        uint64_t last = order_point_end(order, d->at);
        uncertainty_visit_event(order, d->at, last);
        budget -= budget <= last - d->at ? budget : last - d->at + 1;
        d->at = last + 1;
        d->full = d->bytes > DOUBTS_BYTES;
    }
    return d->at >= end || d->full;
}

/* ---- queries ---- */

static uint32_t set_of_event(const struct order *order, uint64_t position)
{
    return set_at(order->uncertain.past_sets, block_line_of(log_get(order, position, FIELD_LINE)),
                  position);
}

uint32_t order_uncertainty_between(const struct order *order, uint64_t a, uint64_t b)
{
    const struct uncertainty *d = order->uncertain.past_sets;
    if (!d)
        return 0;
    if (d->damaged)
        return UNTRACED_BIT(UNANSWERED_DAMAGED);
    if (d->full)
        return order->uncertain.reasons;
    uint32_t x = set_of_event(order, a), y = set_of_event(order, b), reasons = 0;
    uint32_t count = d->sets[x].count > d->sets[y].count ? d->sets[x].count : d->sets[y].count;
    for (uint32_t chain = 0; x != y && chain < count && reasons != order->uncertain.reasons;
         chain++) {
        uint32_t m = uncertainty_count_in(d, x, chain), n = uncertainty_count_in(d, y, chain),
                 to = m > n ? m : n;
        for (uint32_t i = m > n ? n : m; i < to && reasons != order->uncertain.reasons; i++)
            reasons |= UNTRACED_BIT(d->chains[chain].reasons[i]);
    }
    return reasons;
}

uint32_t order_uncertainty_of(const struct order *order, uint64_t position)
{
    const struct uncertainty *d = order->uncertain.past_sets;
    return !d ? 0 : d->damaged || d->full ? UINT32_MAX : set_of_event(order, position);
}

/* Returns 1 + the index of the last event with this reason among the first `number` of a chain, or
 * 0: it determines which events with that reason are in the set, namely all up to it. */
static uint32_t last_with(const struct uncertainty_chain *chain, uint32_t number, uint32_t reason)
{
    if (!(chain->has & UNTRACED_BIT(reason)))
        return 0;
    while (number && chain->reasons[number - 1] != reason)
        number--;
    return number;
}

uint64_t order_uncertainty_kind(const struct order *order, uint32_t set, uint32_t reason)
{
    const struct uncertainty *d = order->uncertain.past_sets;
    uint64_t kind = 0;
    for (uint32_t chain = 0; d && set < d->set_count && chain < d->sets[set].count; chain++) {
        uint64_t last = last_with(&d->chains[chain], uncertainty_count_in(d, set, chain), reason);
        if (!last)
            continue;
        kind += ((uint64_t)chain + 1) * 0x9e3779b97f4a7c15u ^ last;
        kind = (kind ^ kind >> 32) * 0xd6e8feb86659fd93u;
        kind = (kind ^ kind >> 29) * 0xbf58476d1ce4e5b9u;
        kind = kind ? kind : 1;
    }
    return kind;
}

uint64_t order_uncertainty_alike(const struct order *order, uint32_t line, uint64_t from,
                                 uint64_t end, uint64_t position)
{
    const struct uncertainty *d = order->uncertain.past_sets;
    if (from >= end || !d)
        return from < end ? end - from : 0;
    if (d->damaged || d->full)
        return 0;
    const struct uncertainty_history *h = history_of(d, line);
    uint32_t set = set_of_event(order, position);
    size_t i = 0; /* sets only grow along a line, so each occurs at most once */
    while (h && i < h->count && h->changes[i].set != set)
        i++;
    if (set && (!h || i == h->count))
        return 0;
    i = set ? i : SIZE_MAX;
    uint64_t begin = i == SIZE_MAX ? 0 : order_line_from(order, line, h->changes[i].position);
    uint64_t until =
        h && i + 1 < h->count ? order_line_from(order, line, h->changes[i + 1].position) : end;
    begin = begin > from ? begin : from;
    until = until < end ? until : end;
    return begin < until ? until - begin : 0;
}
