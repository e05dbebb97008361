#include "server/order/log/event_summary.h"

#include "base/alloc.h"
#include "server/order/log/log_block.h"

/* Copies some rows of one field; of wider values the low half. */
static void event_summary_copy_field(uint32_t *to, const struct log_block *rows,
                                     enum block_field field, uint32_t from, uint32_t end)
{
    const struct block_layout layout = rows->fields[field];
    const uint8_t *at = rows->bytes + layout.byte;
    for (uint32_t i = from; i < end; i++) {
        uint64_t word;
        memcpy(&word, at + (size_t)i * layout.step, sizeof word);
        to[i] = (uint32_t)(((word >> layout.shift) & layout.mask) + layout.least);
    }
}

static void event_summary_copy_edges(uint32_t *to, const struct log_block *rows, uint32_t from,
                                     uint32_t end)
{
    const struct block_layout layout = rows->fields[FIELD_EDGE];
    const uint8_t *at = rows->bytes + layout.byte;
    for (uint32_t i = from; i < end; i++) {
        uint64_t word;
        memcpy(&word, at + (size_t)i * layout.step, sizeof word);
        uint64_t edge = ((word >> layout.shift) & layout.mask) + layout.least;
        to[i] = (edge & 3) == 3 || edge > UINT32_MAX ? EVENT_SUMMARY_CHECK : (uint32_t)edge;
    }
}

/* Can a field be anything but 0 in the block? */
static bool is_used(const struct log_block *rows, enum block_field field)
{
    return rows->fields[field].mask || rows->fields[field].least;
}

/* Marks members of points and inconsistent events, which need a closer look. */
static void event_summary_mark_special(uint32_t *edge, const struct log_block *rows, uint32_t from,
                                       uint32_t end)
{
    if (is_used(rows, FIELD_POINT))
        for (uint32_t i = from; i < end; i++)
            if (block_get(rows, i, FIELD_POINT) || block_get(rows, i + 1, FIELD_POINT))
                edge[i] = EVENT_SUMMARY_CHECK;
    for (uint32_t i = from; i < end; i++)
        if (block_get(rows, i, FIELD_FLAGS) & FIELD_INCONSISTENT)
            edge[i] = EVENT_SUMMARY_CHECK;
}

const struct event_summary *event_summary_make(const struct order *constant, uint64_t number)
{
    /* a cache is not part of the order's state */
    struct order *order = (struct order *)(uintptr_t)constant;
    struct log_block *rows = order->log.blocks[number].rows;
    if (!rows->glance) {
        rows->glance = xmalloc(sizeof *rows->glance);
        rows->glance->known = 0;
        if (number < order->log.packed && rows != order->log.unreadable.rows) {
            rows->size += sizeof *rows->glance;
            order->log.cache.bytes += sizeof *rows->glance;
        }
    }
    struct event_summary *glance = rows->glance;
    uint32_t from = glance->known, end = rows->count ? rows->count - 1 : 0;
    event_summary_copy_field(glance->line, rows, FIELD_LINE, from, end);
    event_summary_copy_edges(glance->edge, rows, from, end);
    event_summary_mark_special(glance->edge, rows, from, end);
    glance->known = end;
    return glance;
}
