#include "server/order/log/log_block.h"

#include "base/map.h"
#include "base/alloc.h"
#include "server/order/log/event_log.h"

#include <stdlib.h>

static uint64_t block_low_bits(size_t width)
{
    return width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

static struct log_block *block_new(void)
{
    struct log_block *rows = xmalloc(sizeof *rows);
    *rows = (struct log_block){.used = true};
    return rows;
}

struct log_block *block_open(void)
{
    struct log_block *rows = block_new();
    rows->size = BLOCK_EVENTS * BLOCK_COLUMN_BYTES + FIELD_FIELDS * BLOCK_COLUMN_GAP + 8;
    rows->memory = rows->bytes = xmalloc(rows->size);
    for (enum block_field f = 0; f < FIELD_FIELDS; f++) {
        uint16_t bytes = (uint16_t)block_column_bytes(f);
        rows->fields[f] = (struct block_layout){.byte = (uint32_t)block_column(f),
                                                .step = bytes,
                                                .width = (uint8_t)(8 * bytes),
                                                .mask = block_low_bits(8 * bytes)};
    }
    return rows;
}

void block_free(struct log_block *rows)
{
    if (!rows)
        return;
    free(rows->memory);
    free(rows->extras);
    free(rows->glance);
    free(rows);
}

void block_set_edges(struct log_block *rows, uint32_t i, const uint64_t *distances, uint32_t count,
                     uint32_t sends)
{
    if (count == 0) {
        block_set(rows, i, FIELD_EDGE, 0);
        return;
    }
    if (count == 1) {
        block_set(rows, i, FIELD_EDGE, distances[0] << 2 | (sends ? 2 : 1));
        return;
    }
    rows->extras = array_reserve(rows->extras, &rows->extra_room, rows->extra_count + count + 1,
                                 sizeof *rows->extras);
    block_set(rows, i, FIELD_EDGE, (uint64_t)rows->extra_count << 2 | 3);
    rows->extras[rows->extra_count++] = (uint64_t)count << 16 | sends;
    memcpy(rows->extras + rows->extra_count, distances, count * sizeof *distances);
    rows->extra_count += count;
}

/* ---- loading: nothing in a file is trusted ---- */

static uint32_t block_read_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Checks that a list of extras ends within them and leads to earlier events. */
static bool extras_fit(const struct log_block *rows, uint64_t index, uint64_t position)
{
    if (index >= rows->extra_count)
        return false;
    uint64_t count = rows->extras[index] >> 16;
    if (count >= rows->extra_count - index || (rows->extras[index] & 0xffff) > count)
        return false;
    for (uint64_t i = 1; i <= count; i++)
        if (rows->extras[index + i] == 0 || rows->extras[index + i] > position)
            return false;
    return true;
}

/* Are all values of a field known to be at most this? */
static bool is_below(const struct log_block *rows, enum block_field field, uint64_t most)
{
    const struct block_layout *layout = &rows->fields[field];
    return layout->least <= most && layout->mask <= most - layout->least;
}

static bool distances_fit(const struct log_block *rows, enum block_field field, uint64_t first)
{
    if (is_below(rows, field, first))
        return true;
    for (uint32_t i = 0; i < rows->count; i++)
        if (block_get(rows, i, field) > first + i)
            return false;
    return true;
}

/* Branchless, since branches would be unpredictable: every block that is read from the file is
 * checked here. */
static bool single_edges_fit(const struct log_block *rows, uint64_t first)
{
    const struct block_layout layout = rows->fields[FIELD_EDGE];
    const uint8_t *at = rows->bytes + layout.byte;
    uint64_t bad = 0;
    for (uint32_t i = 0; i < rows->count; i++, at += layout.step) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        uint64_t edge = ((word >> layout.shift) & layout.mask) + layout.least;
        uint64_t distance = edge >> 2, kind = edge & 3;
        bad |= (kind != 3) & (edge != 0) & ((distance == 0) | (kind == 0) | (distance > first + i));
        bad |= (kind == 3) & (distance >= rows->extra_count);
    }
    return !bad;
}

static bool block_fit(const struct log_block *rows, uint64_t first)
{
    if (!single_edges_fit(rows, first))
        return false;
    for (uint32_t i = 0; i < rows->count && rows->extra_count; i++) {
        uint64_t edge = block_get(rows, i, FIELD_EDGE);
        if ((edge & 3) == 3 && !extras_fit(rows, edge >> 2, first + i))
            return false;
    }
    return distances_fit(rows, FIELD_PREVIOUS, first) && distances_fit(rows, FIELD_TIED, first) &&
           distances_fit(rows, FIELD_POINT, first);
}

static bool read_head(struct log_block *rows, const uint8_t *bytes, size_t size)
{
    if (size < BLOCK_HEAD_BYTES)
        return false;
    rows->count = block_read_u32(bytes);
    rows->extra_count = block_read_u32(bytes + 8);
    for (int f = 0; f < FIELD_FIELDS; f++) {
        rows->fields[f].width = bytes[12 + 9 * f];
        memcpy(&rows->fields[f].least, bytes + 13 + 9 * f, 8);
        if (rows->fields[f].width > 64)
            return false;
    }
    rows->row_bytes = block_lay_out(rows->fields);
    if (rows->count > BLOCK_EVENTS || rows->row_bytes != block_read_u32(bytes + 4))
        return false;
    size_t body = (size_t)rows->row_bytes * rows->count, rest = size - BLOCK_HEAD_BYTES;
    if (body > rest || !rows->extra_count)
        return rest == body;
    return (rest - body) % rows->extra_count == 0 && rest > body &&
           (rest - body) / rows->extra_count <= 8;
}

static void place_rows(struct log_block *rows, uint8_t *bytes)
{
    rows->bytes = bytes;
    for (int f = 0; f < FIELD_FIELDS; f++)
        rows->fields[f].step = (uint16_t)rows->row_bytes;
}

struct log_block *block_load(uint8_t *bytes, size_t size, uint64_t position)
{
    struct log_block *rows = block_new();
    rows->memory = bytes;
    rows->size = size;
    if (!read_head(rows, bytes, size)) {
        rows->extra_count = 0;
        block_free(rows);
        return NULL;
    }
    place_rows(rows, bytes + BLOCK_HEAD_BYTES);
    size_t body = (size_t)rows->row_bytes * rows->count;
    if (rows->extra_count) {
        size_t each = (size - BLOCK_HEAD_BYTES - body) / rows->extra_count;
        const uint8_t *from = rows->bytes + body;
        rows->extras =
            array_reserve(NULL, &rows->extra_room, rows->extra_count, sizeof *rows->extras);
        for (size_t i = 0; i < rows->extra_count; i++, from += each) {
            rows->extras[i] = 0;
            memcpy(&rows->extras[i], from, each);
        }
    }
    if (block_fit(rows, position))
        return rows;
    block_free(rows);
    return NULL;
}

struct log_block *block_open_copy(const struct log_block *packed)
{
    struct log_block *rows = block_open();
    rows->count = packed->count;
    for (enum block_field f = 0; f < FIELD_FIELDS; f++)
        for (uint32_t i = 0; i < packed->count; i++)
            block_set(rows, i, f, block_get(packed, i, f));
    rows->extras =
        array_reserve(NULL, &rows->extra_room, packed->extra_count + 1, sizeof *rows->extras);
    if (packed->extra_count)
        memcpy(rows->extras, packed->extras, packed->extra_count * sizeof *rows->extras);
    rows->extra_count = packed->extra_count;
    return rows;
}
