/* Packing of open blocks: measures each column, combines the columns that share eight bytes of a
 * row, for some rows at a time, and writes these words. Each loop goes over one column without
 * branches, so that the compiler can vectorize it (the Makefile compiles this file for that). */
#include "base/alloc.h"
#include "server/order/log/log_block.h"

#include <string.h>

#define ROWS_AT_ONCE 256u

/* For columns of values of this many bytes: range_ finds the least and the greatest value; merge_
 * moves each value, less the least, to its place in a word. */
#define COLUMN(bytes, type)                                                                        \
    static void range_##bytes(const uint8_t *column, uint32_t count, uint64_t *least,              \
                              uint64_t *most)                                                      \
    {                                                                                              \
        type low, high, v;                                                                         \
        memcpy(&low, column, sizeof low);                                                          \
        high = low;                                                                                \
        for (size_t i = 0; i < count; i++) {                                                       \
            memcpy(&v, column + i * sizeof v, sizeof v);                                           \
            low = v < low ? v : low;                                                               \
            high = v > high ? v : high;                                                            \
        }                                                                                          \
        *least = low;                                                                              \
        *most = high;                                                                              \
    }                                                                                              \
    static void merge_##bytes(uint64_t *words, const uint8_t *column, uint32_t count,              \
                              uint64_t least, unsigned shift)                                      \
    {                                                                                              \
        for (size_t i = 0; i < count; i++) {                                                       \
            type v;                                                                                \
            memcpy(&v, column + i * sizeof v, sizeof v);                                           \
            words[i] |= ((uint64_t)v - least) << shift;                                            \
        }                                                                                          \
    }

COLUMN(8, uint64_t)
COLUMN(4, uint32_t)
COLUMN(2, uint16_t)
COLUMN(1, uint8_t)

static void pack_column_range(const struct log_block *rows, enum block_field field, uint64_t *least,
                              uint64_t *most)
{
    static void (*const ranges[])(const uint8_t *, uint32_t, uint64_t *, uint64_t *) = {
        [8] = range_8, [4] = range_4, [2] = range_2, [1] = range_1};
    ranges[block_column_bytes(field)](rows->bytes + block_column(field), rows->count, least, most);
}

static void pack_merge_column(uint64_t *words, const struct log_block *rows, enum block_field field,
                              uint32_t from, uint32_t count, uint64_t least, unsigned shift)
{
    static void (*const merges[])(uint64_t *, const uint8_t *, uint32_t, uint64_t, unsigned) = {
        [8] = merge_8, [4] = merge_4, [2] = merge_2, [1] = merge_1};
    size_t bytes = block_column_bytes(field);
    merges[bytes](words, rows->bytes + block_column(field) + from * bytes, count, least, shift);
}

static unsigned width_of(uint64_t v) { return v ? 64 - (unsigned)__builtin_clzll(v) : 0; }

static uint64_t pack_low_bits(unsigned width)
{
    return width >= 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
}

uint32_t block_lay_out(struct block_layout *fields)
{
    uint32_t bit = 0;
    for (int f = 0; f < FIELD_FIELDS; f++) {
        if (fields[f].width > 57) /* a wider one could span nine bytes */
            bit = (bit + 7) & ~7u;
        fields[f].byte = bit / 8;
        fields[f].shift = (uint8_t)(bit % 8);
        fields[f].mask = pack_low_bits(fields[f].width);
        bit += fields[f].width;
    }
    return (bit + 7) / 8;
}

static void pack_measure_fields(const struct log_block *rows, struct block_layout *fields)
{
    for (enum block_field f = 0; f < FIELD_FIELDS; f++) {
        uint64_t least = 0, most = 0;
        if (rows->count)
            pack_column_range(rows, f, &least, &most);
        fields[f].least = least;
        fields[f].width = (uint8_t)width_of(most - least);
    }
}

/* Do all bits of a field lie in the eight bytes from this byte of a row on? */
static bool is_within(const struct block_layout *field, uint32_t byte)
{
    return (field->byte - byte) * 8 + field->shift + field->width <= 64;
}

/* Combines the fields that lie in the same eight bytes as field f. Returns the first field after
 * them. */
static enum block_field pack_gather_word(uint64_t *words, const struct log_block *rows,
                                         const struct block_layout *fields, enum block_field f,
                                         uint32_t from, uint32_t count)
{
    uint32_t byte = fields[f].byte;
    memset(words, 0, count * sizeof *words);
    for (; f < FIELD_FIELDS && is_within(&fields[f], byte); f++)
        if (fields[f].width)
            pack_merge_column(words, rows, f, from, count, fields[f].least,
                              (fields[f].byte - byte) * 8 + fields[f].shift);
    return f;
}

/* Writes the words into rows; bits that are already set in the same bytes are kept.  Every other
 * row first: words of neighbors overlap, and a load of what was just stored in part waits. */
static void write_words(uint8_t *to, uint32_t row_bytes, const uint64_t *words, uint32_t count)
{
    for (uint32_t odd = 0; odd < 2; odd++)
        for (uint32_t i = odd; i < count; i += 2) {
            uint8_t *at = to + (size_t)i * row_bytes;
            uint64_t word;
            memcpy(&word, at, sizeof word);
            word |= words[i];
            memcpy(at, &word, sizeof word);
        }
}

static void pack_rows(uint8_t *to, uint32_t row_bytes, const struct log_block *rows,
                      const struct block_layout *fields)
{
    uint64_t words[ROWS_AT_ONCE];
    for (uint32_t from = 0; from < rows->count; from += ROWS_AT_ONCE) {
        uint32_t count = rows->count - from < ROWS_AT_ONCE ? rows->count - from : ROWS_AT_ONCE;
        for (enum block_field f = 0; f < FIELD_FIELDS;) {
            if (!fields[f].width) {
                f++;
                continue;
            }
            uint8_t *at = to + (size_t)from * row_bytes + fields[f].byte;
            f = pack_gather_word(words, rows, fields, f, from, count);
            write_words(at, row_bytes, words, count);
        }
    }
}

static void pack_write_u32(uint8_t *p, uint64_t v)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (8 * i));
}

static uint8_t *put_head(uint8_t *at, const struct log_block *rows,
                         const struct block_layout *fields, uint32_t row_bytes)
{
    pack_write_u32(at, rows->count);
    pack_write_u32(at + 4, row_bytes);
    pack_write_u32(at + 8, rows->extra_count);
    at += 12;
    for (int f = 0; f < FIELD_FIELDS; f++, at += 9) {
        at[0] = fields[f].width;
        memcpy(at + 1, &fields[f].least, 8);
    }
    return at;
}

static unsigned extra_bytes(const struct log_block *rows)
{
    uint64_t most = 0;
    for (size_t i = 0; i < rows->extra_count; i++)
        most |= rows->extras[i];
    return (width_of(most) + 7) / 8;
}

uint8_t *block_pack(const struct log_block *rows, size_t *size)
{
    struct block_layout fields[FIELD_FIELDS];
    pack_measure_fields(rows, fields);
    uint32_t row_bytes = block_lay_out(fields);
    unsigned each = extra_bytes(rows);
    size_t body = (size_t)row_bytes * rows->count;
    *size = BLOCK_HEAD_BYTES + body + rows->extra_count * each;
    uint8_t *bytes = xcalloc(*size + 8, 1);
    uint8_t *at = put_head(bytes, rows, fields, row_bytes);
    pack_rows(at, row_bytes, rows, fields);
    at += body;
    for (size_t i = 0; i < rows->extra_count; i++, at += each)
        memcpy(at, &rows->extras[i], each);
    return bytes;
}
