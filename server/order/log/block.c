#include "server/order/log/block.h"

#include "memory/map.h"
#include "memory/memory.h"
#include "server/order/log/log.h"

#include <stdlib.h>

#define OPEN_ROW_BYTES 72u
#define HEAD_BYTES (12u + 9u * FIELD_FIELDS)

/* byte and width of each field in an open row */
static const struct {
    uint8_t byte, bytes;
} open_layout[FIELD_FIELDS] = {
    [FIELD_NUMBER] = {0, 8}, [FIELD_TIME] = {8, 8},    [FIELD_PREVIOUS] = {16, 8}, [FIELD_EDGE] = {24, 8},
    [FIELD_RECEIVE] = {32, 8}, [FIELD_LINE] = {40, 4}, [FIELD_THREAD] = {44, 4},   [FIELD_ABOUT] = {48, 4},
    [FIELD_SITE] = {52, 4},  [FIELD_POINT] = {56, 2},  [FIELD_TYPE] = {58, 2},     [FIELD_FLAGS] = {70, 2},
    [FIELD_ACTIVE] = {61, 1}, [FIELD_BLOCKED] = {62, 1}, [FIELD_AWAY] = {63, 1},   [FIELD_TIED] = {64, 6}};

static uint64_t ones(unsigned width) { return width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1; }

static struct block *block_new(void)
{
    size_t room = 0;
    struct block *rows = grow(NULL, &room, 1, sizeof *rows);
    *rows = (struct block){.used = true};
    return rows;
}

struct block *block_open(void)
{
    struct block *rows = block_new();
    size_t room = 0;
    rows->size = BLOCK_EVENTS * OPEN_ROW_BYTES + 8;
    rows->memory = rows->bytes = grow(NULL, &room, rows->size, 1);
    rows->row_bytes = OPEN_ROW_BYTES;
    for (int f = 0; f < FIELD_FIELDS; f++)
        rows->fields[f] = (struct block_layout){.byte = open_layout[f].byte,
                                              .width = (uint8_t)(8 * open_layout[f].bytes),
                                              .mask = ones(8u * open_layout[f].bytes)};
    return rows;
}

void block_free(struct block *rows)
{
    if (!rows)
        return;
    free(rows->memory);
    free(rows->extras);
    free(rows);
}

void block_set(struct block *rows, uint32_t i, enum block_field field, uint64_t value)
{
    uint8_t *at = rows->bytes + (size_t)i * OPEN_ROW_BYTES + open_layout[field].byte;
    switch (open_layout[field].bytes) { /* little-endian, as block_get reads */
    case 8:
        memcpy(at, &value, 8);
        break;
    case 6:
        memcpy(at, &value, 6);
        break;
    case 4:
        memcpy(at, &value, 4);
        break;
    case 2:
        memcpy(at, &value, 2);
        break;
    default:
        *at = (uint8_t)value;
    }
}

void block_set_edges(struct block *rows, uint32_t i, const uint64_t *distances, uint32_t count,
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
    rows->extras = grow(rows->extras, &rows->extra_room, rows->extra_count + count + 1,
                        sizeof *rows->extras);
    block_set(rows, i, FIELD_EDGE, (uint64_t)rows->extra_count << 2 | 3);
    rows->extras[rows->extra_count++] = (uint64_t)count << 16 | sends;
    memcpy(rows->extras + rows->extra_count, distances, count * sizeof *distances);
    rows->extra_count += count;
}

/* ---- packing ---- */

static void put32(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static unsigned width_of(uint64_t v) { return v ? 64 - (unsigned)__builtin_clzll(v) : 0; }

/* Where each field lies, from the widths; returns the bytes of a row. */
static uint32_t lay_out(struct block_layout *fields)
{
    uint32_t bit = 0;
    for (int f = 0; f < FIELD_FIELDS; f++) {
        if (fields[f].width > 57) /* else it may take nine bytes */
            bit = (bit + 7) & ~7u;
        fields[f].byte = (uint16_t)(bit / 8);
        fields[f].shift = (uint8_t)(bit % 8);
        fields[f].mask = ones(fields[f].width);
        bit += fields[f].width;
    }
    return (bit + 7) / 8;
}

static void measure(const struct block *rows, struct block_layout *fields)
{
    for (int f = 0; f < FIELD_FIELDS; f++) {
        uint64_t least = UINT64_MAX, most = 0;
        for (uint32_t i = 0; i < rows->count; i++) {
            uint64_t v = block_get(rows, i, (enum block_field)f);
            least = v < least ? v : least;
            most = v > most ? v : most;
        }
        fields[f].least = rows->count ? least : 0;
        fields[f].width = (uint8_t)(rows->count ? width_of(most - least) : 0);
    }
}

static unsigned extra_bytes(const struct block *rows)
{
    uint64_t most = 0;
    for (size_t i = 0; i < rows->extra_count; i++)
        most |= rows->extras[i];
    return (width_of(most) + 7) / 8;
}

uint8_t *block_pack(const struct block *rows, size_t *size)
{
    struct block_layout fields[FIELD_FIELDS];
    measure(rows, fields);
    uint32_t row_bytes = lay_out(fields);
    unsigned each = extra_bytes(rows);
    size_t room = 0, body = (size_t)row_bytes * rows->count;
    *size = HEAD_BYTES + body + rows->extra_count * each;
    uint8_t *bytes = grow(NULL, &room, *size + 8, 1), *at = bytes;
    memset(bytes, 0, *size + 8);
    put32(at, rows->count);
    put32(at + 4, row_bytes);
    put32(at + 8, rows->extra_count);
    at += 12;
    for (int f = 0; f < FIELD_FIELDS; f++, at += 9) {
        at[0] = fields[f].width;
        memcpy(at + 1, &fields[f].least, 8);
    }
    for (int f = 0; f < FIELD_FIELDS; f++) {
        if (!fields[f].width)
            continue;
        uint8_t *to = at + fields[f].byte;
        for (uint32_t i = 0; i < rows->count; i++, to += row_bytes) {
            uint64_t word;
            memcpy(&word, to, sizeof word);
            word |= (block_get(rows, i, (enum block_field)f) - fields[f].least) << fields[f].shift;
            memcpy(to, &word, sizeof word);
        }
    }
    at += body;
    for (size_t i = 0; i < rows->extra_count; i++, at += each)
        memcpy(at, &rows->extras[i], each);
    return bytes;
}

/* ---- loading: nothing in a file is trusted ---- */

/* Lists of extras must end within them and lead to earlier events. */
static bool extras_fit(const struct block *rows, uint64_t index, uint64_t position)
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

/* Can no value of a field be larger than this? */
static bool is_below(const struct block *rows, enum block_field field, uint64_t most)
{
    const struct block_layout *layout = &rows->fields[field];
    return layout->least <= most && layout->mask <= most - layout->least;
}

static bool distances_fit(const struct block *rows, enum block_field field, uint64_t first)
{
    if (is_below(rows, field, first))
        return true;
    for (uint32_t i = 0; i < rows->count; i++)
        if (block_get(rows, i, field) > first + i)
            return false;
    return true;
}

/* Without branches, which nobody could predict: all that is read from the file comes through here. */
static bool single_edges_fit(const struct block *rows, uint64_t first)
{
    const struct block_layout layout = rows->fields[FIELD_EDGE];
    const uint8_t *at = rows->bytes + layout.byte;
    uint64_t bad = 0;
    for (uint32_t i = 0; i < rows->count; i++, at += rows->row_bytes) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        uint64_t edge = ((word >> layout.shift) & layout.mask) + layout.least;
        uint64_t distance = edge >> 2, kind = edge & 3;
        bad |= (kind != 3) & (edge != 0) & ((distance == 0) | (kind == 0) | (distance > first + i));
        bad |= (kind == 3) & (distance >= rows->extra_count);
    }
    return !bad;
}

static bool block_fit(const struct block *rows, uint64_t first)
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

static bool read_head(struct block *rows, const uint8_t *bytes, size_t size)
{
    if (size < HEAD_BYTES)
        return false;
    rows->count = get32(bytes);
    rows->extra_count = get32(bytes + 8);
    for (int f = 0; f < FIELD_FIELDS; f++) {
        rows->fields[f].width = bytes[12 + 9 * f];
        memcpy(&rows->fields[f].least, bytes + 13 + 9 * f, 8);
        if (rows->fields[f].width > 64)
            return false;
    }
    rows->row_bytes = lay_out(rows->fields);
    if (rows->count > BLOCK_EVENTS || rows->row_bytes != get32(bytes + 4))
        return false;
    size_t body = (size_t)rows->row_bytes * rows->count, rest = size - HEAD_BYTES;
    if (body > rest || !rows->extra_count)
        return rest == body;
    return (rest - body) % rows->extra_count == 0 && rest > body &&
           (rest - body) / rows->extra_count <= 8;
}

struct block *block_load(uint8_t *bytes, size_t size, uint64_t position)
{
    struct block *rows = block_new();
    rows->memory = bytes;
    rows->size = size;
    if (!read_head(rows, bytes, size)) {
        rows->extra_count = 0;
        block_free(rows);
        return NULL;
    }
    rows->bytes = bytes + HEAD_BYTES;
    size_t body = (size_t)rows->row_bytes * rows->count;
    if (rows->extra_count) {
        size_t each = (size - HEAD_BYTES - body) / rows->extra_count;
        const uint8_t *from = rows->bytes + body;
        rows->extras = grow(NULL, &rows->extra_room, rows->extra_count, sizeof *rows->extras);
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

struct block *block_open_copy(const struct block *packed)
{
    struct block *rows = block_open();
    rows->count = packed->count;
    for (uint32_t i = 0; i < packed->count; i++)
        for (int f = 0; f < FIELD_FIELDS; f++)
            block_set(rows, i, (enum block_field)f, block_get(packed, i, (enum block_field)f));
    rows->extras = grow(NULL, &rows->extra_room, packed->extra_count + 1, sizeof *rows->extras);
    if (packed->extra_count)
        memcpy(rows->extras, packed->extras, packed->extra_count * sizeof *rows->extras);
    rows->extra_count = packed->extra_count;
    return rows;
}
