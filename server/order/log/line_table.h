/* The table of lines: look-up, creation and eviction. */
#ifndef SERVER_ORDER_LOG_LINE_TABLE_H
#define SERVER_ORDER_LOG_LINE_TABLE_H

#include "base/likely.h"
#include "server/order/order_state.h"

/* Restores an evicted line, by number - 1. */
void order_load_line(const struct order *order, size_t index);
void order_evict_line(struct order *order); /* evicts all complete lines */
/* Evicts some complete lines, from index *first on; returns true when all lines were examined. */
bool order_evict_lines(struct order *order, size_t *first);
void line_eviction_free(struct evicted_lines *evicted);

static inline bool line_is_evicted(const struct order *order, size_t index)
{
    return order->evicted.count && index < order->evicted.room && order->evicted.codes[index];
}

/* Returns a visible line, by number - 1, for reading it immediately; an evicted line stays
 * evicted. */
static inline const struct order_line *order_line_peek(const struct order *order, size_t index)
{
    return line_is_evicted(order, index) ? &order->evicted.patterns[order->evicted.codes[index] - 1]
                                         : &order->lines.visible.items[index];
}

/* Returns a line, NULL if there is none; an evicted one is restored. */
static inline struct order_line *line_get(const struct order *order, uint32_t line)
{
    uint32_t i = (line & ~HIDDEN_LINE) - 1;
    if (line & HIDDEN_LINE)
        return i < order->lines.hidden.count ? &order->lines.hidden.items[i] : NULL;
    if (i >= order->lines.visible.count)
        return NULL;
    struct order_line *visible = &order->lines.visible.items[i];
    if (UNLIKELY(!visible->more)) /* only an evicted line has none */
        order_load_line(order, i);
    return visible;
}

/* Returns the address of a line, NULL if there is none, without reading it; the line may be
 * evicted. */
static inline const struct order_line *line_place(const struct order *order, uint32_t line)
{
    uint32_t i = (line & ~HIDDEN_LINE) - 1;
    if (line & HIDDEN_LINE)
        return i < order->lines.hidden.count ? &order->lines.hidden.items[i] : NULL;
    return i < order->lines.visible.count ? &order->lines.visible.items[i] : NULL;
}

/* Returns whether this is an existing, shared line. */
static inline bool line_is_shared(const struct order *order, uint32_t line)
{
    const struct order_line *l =
        order->lines.has_shared && !(line & HIDDEN_LINE) ? line_get(order, line) : NULL;
    return l && l->shared;
}

/* Returns whether the line has events that were not discarded. */
static inline bool line_has_kept(const struct order *order, const struct order_line *line)
{
    return line->positions.count > line->base && line->last >= order->log.first;
}

void line_array_free(struct line_array *lines); /* frees the array */
struct order_line *line_new_hidden(struct order *order, uint32_t kind, uint32_t *number);

/* ---- the state of a line beside its events ---- */

/* Frees what an idle line does not need: most lines belong to objects that were destroyed long
 * ago. */
void line_trim(struct order_line *line);
/* The line must have less than NEIGHBOURS_MAX. */
void line_add_neighbor(struct order_line *line, uint32_t other);
void line_clear_neighbors(struct order_line *line);
void line_free(struct order_line *line); /* frees what it refers to */

#endif
