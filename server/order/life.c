/* The life of an order, its lines, and what it is told about types. */
#include "server/order/inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct order *order_new(void)
{
    struct order *order = calloc(1, sizeof *order);
    if (!order) {
        fprintf(stderr, "poet server: out of memory\n");
        abort();
    }
    return order;
}

static void line_free(struct line *line)
{
    free(line->positions);
    free(line->gaps);
    free(line->waiters);
    free(line->sits);
    free(line->collectors);
}

void order_free(struct order *order)
{
    if (!order)
        return;
    for (size_t i = 0; i < order->line_count; i++)
        line_free(&order->lines[i]);
    for (size_t i = 0; i < order->hidden_count; i++)
        line_free(&order->hidden[i]);
    for (size_t i = 0; i * CHUNK_EVENTS < order->count; i++)
        free(order->chunks[i]); /* NULL where forgotten */
    free(order->starts);
    for (size_t i = 0; i < order->pending.room; i++)
        if (order->pending.entries[i].value)
            pending_free(order->pending.entries[i].value);
    for (size_t i = 0; i < order->meetings.room; i++) {
        struct meeting *meeting = order->meetings.entries[i].value;
        if (meeting) {
            free(meeting->members);
            free(meeting->waiting);
            free(meeting);
        }
    }
    for (size_t i = 0; i < order->after_room; i++)
        free(order->after[i].items);
    for (size_t i = 0; i < order->effects_room; i++)
        free(order->effects[i].of);
    map_free(&order->pending);
    map_free(&order->meetings);
    free(order->lines);
    free(order->hidden);
    free(order->chunks);
    free(order->edges);
    free(order->links);
    free(order->after);
    free(order->effects);
    free(order->work);
    free(order->troubles);
    free(order);
}

uint32_t order_line(struct order *order, bool shared, uint32_t kind)
{
    order->lines =
        grow(order->lines, &order->line_room, order->line_count + 1, sizeof *order->lines);
    order->lines[order->line_count++] = (struct line){.shared = shared, .kind = kind};
    return (uint32_t)order->line_count;
}

void order_opened_by(struct order *order, uint32_t line, struct ref by)
{
    struct line *l = order_get(order, line);
    if (l->count == 0)
        l->opened_by = by;
}

void order_after(struct order *order, uint32_t type, uint32_t earlier)
{
    size_t before = order->after_room;
    order->after = grow(order->after, &order->after_room, type + 1, sizeof *order->after);
    if (order->after_room > before)
        memset(order->after + before, 0, (order->after_room - before) * sizeof *order->after);
    struct set *set = &order->after[type];
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i] == earlier)
            return;
    set->items = grow(set->items, &set->room, set->count + 1, sizeof *set->items);
    set->items[set->count++] = earlier;
}

void order_report(struct order *order, struct ref at, struct ref with, const char *why)
{
    order->figures.contradictions++;
    if (order->trouble_count >= 65536)
        return; /* counted, not listed */
    order->troubles = grow(order->troubles, &order->trouble_room, order->trouble_count + 1,
                           sizeof *order->troubles);
    order->troubles[order->trouble_count++] = (struct trouble){at, with, why};
}
