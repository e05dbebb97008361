/* Creates and frees an order, its lines, and its rules about types. */
#define _GNU_SOURCE
#include "server/order/order.h"

#include "base/alloc.h"
#include "server/order/delivery/rendezvous_match.h"
#include "server/order/delivery/pending_events.h"
#include "server/order/delivery/occupancy.h"
#include "server/order/delivery/host_streams.h"
#include "server/order/delivery/byte_stream_match.h"
#include "server/order/log/event_log.h"
#include "server/order/log/line_table.h"
#include "server/order/log/line_pages.h"
#include "server/order/log/late_receives.h"
#include "server/order/log/position_list.h"
#include "server/order/causality/uncertainty.h"
#include "server/order/causality/backward_search.h"
#include "server/order/block_store.h"
#include "server/order/order_state.h"
#include "wire/event_types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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
