/* Saves and restores an order: what is still growing, and the places of the rest in the block
 * store.  Pending events are not saved: their arrivals must be inserted again. */
#include "base/alloc.h"
#include "server/order/log/log_block.h"
#include "server/order/log/line_table.h"
#include "server/order/log/event_log.h"
#include "server/order/order.h"
#include "server/order/saved_format.h"
#include "server/order/order_state.h"

#include <stdlib.h>
#include <string.h>

#define SAVE_VERSION 1u

static void save_blocks(struct save_bytes *out, const struct event_log *log)
{
    uint64_t before = 0;
    save_put_number(out, log->packed);
    for (uint64_t i = 0; i < log->packed; i++) {
        save_put_number(out, log->blocks[i].place - before);
        before = log->blocks[i].place;
    }
    if (log->count % BLOCK_EVENTS == 0)
        return;
    size_t size;
    uint8_t *bytes = block_pack(log->blocks[log->packed].rows, &size);
    save_put_block(out, bytes, size);
    free(bytes);
}

static void load_blocks(struct save_reader *in, struct event_log *log)
{
    uint64_t place = 0;
    log->packed = save_get_count(in);
    if (in->bad || log->packed != log->count / BLOCK_EVENTS) {
        in->bad = true;
        log->packed = log->count = 0;
        return;
    }
    log->blocks =
        array_reserve(log->blocks, &log->block_room, log->packed + 1, sizeof *log->blocks);
    for (uint64_t i = 0; i < log->packed; i++)
        log->blocks[i] = (struct kept_block){.place = place += save_get_number(in)};
    if (log->count % BLOCK_EVENTS == 0)
        return;
    size_t size;
    const uint8_t *bytes = save_get_block(in, &size);
    uint8_t *copy = xmalloc(size + 8);
    memcpy(copy, bytes, size);
    memset(copy + size, 0, 8);
    struct log_block *rows =
        in->bad ? (free(copy), NULL) : block_load(copy, size, log->packed * BLOCK_EVENTS);
    if (!rows || rows->count != log->count % BLOCK_EVENTS) {
        in->bad = true;
        log->count = log->packed * BLOCK_EVENTS;
    } else {
        log->blocks[log->packed] = (struct kept_block){.rows = block_open_copy(rows)};
    }
    block_free(rows);
}

/* Checks that the lines of the open block exist, too. */
static bool open_lines_fit(const struct order *order)
{
    const struct event_log *log = &order->log;
    if (log->count % BLOCK_EVENTS == 0)
        return true;
    const struct log_block *rows = log->blocks[log->packed].rows;
    for (uint32_t i = 0; i < rows->count; i++)
        if (!line_get(order, block_line_of(block_get(rows, i, FIELD_LINE))))
            return false;
    return true;
}

/* ---- the whole order ---- */

static void save_head(struct save_bytes *out, const struct order *order)
{
    const struct order_figures *f = &order->figures;
    save_put_number(out, SAVE_VERSION);
    save_put_number(out, order->log.count);
    save_put_number(out, order->log.first);
    save_put_number(out, order->log.partners_lost);
    save_put_number(out, f->events);
    save_put_number(out, f->hidden_events);
    save_put_number(out, f->lost);
    save_put_number(out, f->found);
    save_put_number(out, f->contradictions);
    save_put_number(out, f->duplicates);
    save_put_number(out, order->uncertain.count);
    save_put_number(out, order->uncertain.first);
    save_put_number(out, order->uncertain.reasons);
    save_put_number(out, order->uncertain.discarded_reasons);
}

bool order_save_prepare(struct order *order)
{
    if ((order->log.packed + 1) * BLOCK_EVENTS > order->log.count)
        return true;
    log_pack_one(order);
    return false;
}

void order_save_begin(struct order *order)
{
    while (!order_discard_step(order))
        ;
    while (!order_save_prepare(order))
        ;
    line_pages_thaw(order);
    line_pages_freeze(order);
    save_rest_freeze(order);
    order->saves.bytes = 0;
    struct save_bytes *out = &order->saves.frozen->state;
    save_head(out, order);
    save_blocks(out, &order->log);
    save_put_number(out, order->lines.hidden.count);
    save_put_number(out, order->lines.visible.count);
}

bool order_save_step(struct order *order)
{
    return save_rest_write_next(order) && line_pages_write_next(order);
}

uint8_t *order_save_end(struct order *order, size_t *size)
{
    struct save_bytes *out = &order->saves.frozen->state;
    while (!order_save_step(order))
        ;
    save_rest(out, order);
    save_pages(out, order, 1);
    save_pages(out, order, 0);
    uint8_t *bytes = out->data;
    *size = out->size;
    *out = (struct save_bytes){0};
    line_pages_thaw(order);
    return bytes;
}

void order_save_drop(struct order *order) { line_pages_thaw(order); }
uint64_t order_saved_bytes(const struct order *order) { return order->saves.bytes; }

uint8_t *order_save(struct order *order, size_t *size)
{
    order_save_begin(order);
    return order_save_end(order, size);
}

static void load_head(struct save_reader *in, struct order *order)
{
    struct order_figures *f = &order->figures;
    order->log.count = save_get_number(in);
    order->log.first = save_get_number(in);
    order->log.partners_lost = save_get_number(in);
    f->events = save_get_number(in);
    f->hidden_events = save_get_number(in);
    f->lost = save_get_number(in);
    f->found = save_get_number(in);
    f->contradictions = save_get_number(in);
    f->duplicates = save_get_number(in);
    order->uncertain.count = save_get_number(in);
    order->uncertain.first = save_get_number(in);
    order->uncertain.reasons = (uint32_t)save_get_number(in);
    order->uncertain.discarded_reasons = (uint32_t)save_get_number(in);
}

bool order_restore(struct order *order, const uint8_t *bytes, size_t size)
{
    struct save_reader in = {.data = bytes, .size = size};
    if (order->log.count || order->lines.hidden.count || save_get_number(&in) != SAVE_VERSION)
        return false;
    load_head(&in, order);
    load_blocks(&in, &order->log);
    uint64_t hidden = save_get_number(&in);
    in.bad |= hidden > order->log.count; /* each has an event */
    in.bad |=
        save_get_number(&in) != order->lines.visible.count || order->log.first > order->log.count;
    uint32_t number;
    for (size_t i = 0; i < hidden && !in.bad; i++)
        line_new_hidden(order, 0, &number);
    load_rest(&in, order);
    load_pages(&in, order, 1);
    load_pages(&in, order, 0);
    bool good = !in.bad && in.at == in.size && open_lines_fit(order);
    if (good && order->log.first)
        order_evict_line(order);
    return good;
}
