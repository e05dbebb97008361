/* Creates and frees an order, its lines, and its rules about types; discards the oldest part of a
 * run that is kept only up to a size. */
#define _GNU_SOURCE
#include "server/order/order.h"

#include "base/alloc.h"
#include "server/order/block_store.h"
#include "server/order/causality/event_search.h"
#include "server/order/delivery/byte_stream.h"
#include "server/order/delivery/host_streams.h"
#include "server/order/delivery/occupancy.h"
#include "server/order/delivery/pending_events.h"
#include "server/order/delivery/rendezvous_match.h"
#include "server/order/log/event_log.h"
#include "server/order/log/late_receives.h"
#include "server/order/log/line_pages.h"
#include "server/order/log/line_table.h"
#include "server/order/log/log_block.h"
#include "server/order/log/position_list.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdlib.h>
#include <string.h>

struct order *order_new(void) { return order_new_on(block_store_in_memory()); }

struct order *order_new_on(struct block_store shelf)
{
    struct order *order = xmalloc(sizeof *order);
    *order = (struct order){.shelf = shelf, .nodes = {.shelf = shelf}};
    order_cache(order, (size_t)256 << 20);
    order->pending.limit = PENDING_LIMIT;
    order->pending.far.gradual = order->rendezvous.by_key.gradual = order->late.newest.gradual =
        order->streams.by_key.gradual = true;
    return order;
}

void order_free(struct order *order)
{
    if (!order)
        return;
    pending_free_all(order);
    line_pages_free(order);
    for (size_t i = 0; i < order->lines.visible.count; i++)
        if (!line_is_evicted(order, i))
            line_free(&order->lines.visible.items[i]);
    for (size_t i = 0; i < order->lines.hidden.count; i++)
        line_free(&order->lines.hidden.items[i]);
    event_log_free(&order->log);
    position_cache_free(&order->nodes);
    late_receives_free(&order->late);
    search_scratch_free(order);
    uncertainty_drop(&order->uncertain);
    if (order->shelf.free)
        order->shelf.free(order->shelf.context);
    rendezvous_free_all(&order->rendezvous);
    byte_stream_free_all(&order->streams);
    host_streams_free(order->streams.ends);
    for (size_t i = 0; i < order->after.room; i++)
        free(order->after.sets[i].items);
    line_array_free(&order->lines.visible);
    line_eviction_free(&order->evicted);
    line_array_free(&order->lines.hidden);
    free(order->after.sets);
    occupancy_free_effects(&order->effects);
    free(order->work.queue.items);
    free(order->work.leaving.lines);
    free(order->work.stragglers.items);
    free(order->inconsistencies.items);
    for (size_t i = 0; i < order->reasons.count; i++)
        free(order->reasons.items[i]);
    free(order->reasons.items);
    free(order);
}

void order_opened_by(struct order *order, uint32_t line, struct event_id by)
{
    struct order_line *l = line_get(order, line);
    if (l->positions.count == 0) {
        line_touch(order, line);
        l->opened_line = by.line;
        l->opened_number = by.number;
    }
}

void order_close(struct order *order, uint32_t number, uint64_t last)
{
    struct order_line *line = line_get(order, number);
    if (line->closed != LINE_OPEN)
        return;
    line_touch(order, number);
    line->closed = line->delivered >= last ? LINE_CLOSED : LINE_CLOSING;
    if (line->closed == LINE_CLOSING)
        line_more(line)->end = last;
}

bool order_after(struct order *order, uint32_t type, uint32_t earlier)
{
    order->after.sets = array_reserve_zeroed(order->after.sets, &order->after.room, type + 1,
                                             sizeof *order->after.sets);
    struct number_set *set = &order->after.sets[type];
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i] == earlier)
            return true;
    if (set->count >= AFTER_MAX)
        return false;
    set->items = array_reserve(set->items, &set->room, set->count + 1, sizeof *set->items);
    set->items[set->count++] = earlier;
    return true;
}

void order_add_inconsistency(struct inconsistency_list *list, struct inconsistency one)
{
    list->items = array_reserve(list->items, &list->room, list->count + 1, sizeof *list->items);
    list->items[list->count++] = one;
}

void order_report(struct order *order, struct event_id at, struct event_id with, const char *why)
{
    order->figures.contradictions++;
    if (order->inconsistencies.count < 65536) /* the others are counted, not listed */
        order_add_inconsistency(&order->inconsistencies, (struct inconsistency){at, with, why});
}

const char *order_intern_reason(struct reason_texts *reasons, const char *text, size_t size)
{
    for (size_t i = 0; i < reasons->count; i++)
        if (strlen(reasons->items[i]) == size && memcmp(reasons->items[i], text, size) == 0)
            return reasons->items[i];
    if (reasons->count >= 256)
        return "reason not recorded";
    reasons->items =
        array_reserve(reasons->items, &reasons->room, reasons->count + 1, sizeof *reasons->items);
    char *copy = xstrndup(text, size);
    return reasons->items[reasons->count++] = copy;
}

/* ---- discarding ---- */

/* Frees what a line without kept events does not need: most are threads and objects that ended long
 * ago. `last` remains, since the line's next event follows that one. */
static void discard_trim_line(struct order_line *line)
{
    position_list_release(&line->positions);
    line_clear_neighbors(line);
    line->dense = false;
    line_trim(line);
}

static void forget_line(struct order *order, uint32_t number, uint64_t first)
{
    struct order_line *line = line_get(order, number);
    if (line->acted && line->acted <= first) {
        line_touch(order, number);
        line->acted = 0; /* no event that is kept */
    }
    if (line->base == line->positions.count)
        return; /* no events since */
    uint64_t base = order_line_from(order, number, first);
    if (line->base == base)
        return;
    line_touch(order, number);
    line->base = base;
    if (base == line->positions.count)
        discard_trim_line(line);
}

void order_discard_begin(struct order *order, uint64_t position)
{
    while (!order_discard_step(order))
        ;
    uint64_t from = order->log.first / BLOCK_EVENTS, to = position / BLOCK_EVENTS;
    if (position > order->log.count || to <= from || to * BLOCK_EVENTS >= order->log.count)
        return;
    uint64_t first = to * BLOCK_EVENTS;
    /* Members of one point stay together: a point that is cut is discarded as a whole. */
    while (first < order->log.count && log_get(order, first, FIELD_POINT))
        first++;
    order->log.first = first;
    order->discarding = (struct order_discarding){.under_way = true};
    if (order->uncertain.count && order->uncertain.first < first)
        order->uncertain.discarded_reasons = order->uncertain.reasons;
    uncertainty_drop(&order->uncertain);
}

#ifndef FORGET_LOOKS
#define FORGET_LOOKS 128u /* lines per step: each may have to read a node from the block store */
#endif

bool order_discard_step(struct order *order)
{
    struct order_discarding *f = &order->discarding;
    if (!f->under_way)
        return true;
    if (order->log.packed < order->log.first / BLOCK_EVENTS) {
        log_pack_one(order);
        return false;
    }
    for (unsigned looks = 0; looks < FORGET_LOOKS; looks++) {
        if (f->line < order->lines.visible.count) {
            size_t i = f->line++;
            if (!line_is_evicted(order, i))
                forget_line(order, (uint32_t)i + 1, order->log.first);
        } else if (f->hidden < order->lines.hidden.count) {
            forget_line(order, HIDDEN_LINE | (uint32_t)++f->hidden, order->log.first);
        } else if (order_evict_lines(order, &f->evicted)) {
            f->under_way = false;
            order_release_caches(order);
            return true;
        } else {
            return false;
        }
    }
    return false;
}

void order_discard(struct order *order, uint64_t position)
{
    order_discard_begin(order, position);
    while (!order_discard_step(order))
        ;
}
