/* Pages of lines, the unit in which a save writes lines, and the marks of those to be saved. */
#ifndef SERVER_ORDER_LOG_LINE_PAGES_H
#define SERVER_ORDER_LOG_LINE_PAGES_H

#include "server/order/order_state.h"

/* Must be called before the saved part of a line changes. */
void line_pages_touched(struct order *order, uint32_t line);
void line_pages_free(struct order *order);

static inline size_t line_page(uint32_t line) { return ((line & ~HIDDEN_LINE) - 1) / PAGE_LINES; }

static inline void line_touch(struct order *order, uint32_t line)
{
    if (order->pages[line >> 31].marks[line_page(line)] != PAGE_TOUCHED)
        line_pages_touched(order, line);
}

/* saved_rest.c: Must be called before the saved part of a rendezvous or a byte range changes, or it
 * is freed; and after ranges moved to lower indices. */
struct byte_stream;
void save_rendezvous_now(struct order *order, struct rendezvous *meeting);
void save_rendezvous_gone(struct order *order, struct rendezvous *meeting);
void save_stream_range_now(struct order *order, struct byte_stream *stream, size_t i);
void save_stream_ranges_moved(struct order *order, const struct byte_stream *stream);
/* the same for the ends of a stream */
void save_stream_ends_now(struct order *order, struct byte_stream *stream);

static inline void rendezvous_touch(struct order *order, struct rendezvous *meeting)
{
    if (order->saves.frozen && meeting->saved != order->saves.begun)
        save_rendezvous_now(order, meeting);
}

#endif
