/* Rows: the representation of delivered events in memory and in the trace file, BLOCK_EVENTS to a
 * block.
 *
 * A row has the same fields for every event. An open block, in which rows can still be changed,
 * stores them by columns, one array per field: so a column is set, measured and packed by itself. A
 * packed block stores them by rows, and gives each field as many bits as the block needs for it,
 * counted from the least value in the block (frame of reference, Goldstein, Ramakrishnan and Shaft
 * 1998), so that any row can be read in place, without unpacking its neighbors.
 *
 * An event's incoming edges: none; one, in FIELD_EDGE; or several, in the block's extras. */
#ifndef SERVER_ORDER_LOG_LOG_BLOCK_H
#define SERVER_ORDER_LOG_LOG_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef BLOCK_EVENTS /* tests make it small */
#define BLOCK_EVENTS 4096u
#endif

enum block_field { /* sorted by the width of their columns, see block_column_bytes */
                   FIELD_NUMBER,
                   FIELD_TIME,     /* ns + FIELD_TIME_BIAS */
                   FIELD_PREVIOUS, /* distance to the previous event on its line, 0: none */
                   /* distance to the last event before it on its line that has edges or is part of
                    * a point */
                   FIELD_TIED,
                   FIELD_EDGE, /* see block_edge */
                   /* of a SEND: 1 + its newest receive; of a RECEIVE of one send: 1 + that send's
                    * next receive */
                   FIELD_RECEIVE,
                   FIELD_LINE, /* block_line_code */
                   FIELD_THREAD,
                   FIELD_ABOUT,
                   FIELD_SITE,
                   FIELD_POINT, /* distance to the first event of its point */
                   FIELD_TYPE,
                   FIELD_FLAGS,
                   FIELD_ACTIVE, /* threads in its line after it, at most 255 each */
                   FIELD_BLOCKED,
                   FIELD_AWAY,
                   FIELD_FIELDS
};

#define FIELD_TIME_BIAS ((uint64_t)1 << 63)

/* FIELD_FLAGS; the low three bits are the relation */
#define FIELD_RELATION 7u
#define FIELD_INCONSISTENT 8u
#define FIELD_PARTNER_LOST 16u
#define FIELD_OPENED 32u
#define FIELD_AFTER_GAP 64u /* numbers before it on its line were lost */
#define FIELD_SENDS 128u /* a RECEIVE that is received in turn */
#define FIELD_UNCERTAINTY_SHIFT                                                                    \
    8 /* and above: an enum untraced_reason, why the event is uncertain */

struct block_layout { /* the place of a field */
    uint64_t mask, least;
    uint32_t byte; /* of row 0 */
    uint16_t step; /* bytes from row to row */
    uint8_t shift, width;
};

struct log_block {
    uint8_t *bytes; /* columns, or rows; followed by 8 more bytes */
    uint32_t row_bytes, count;
    struct block_layout fields[FIELD_FIELDS];
    uint64_t *extras;
    size_t extra_count, extra_room;
    void *memory; /* the allocation that contains `bytes` */
    size_t size;
    bool used; /* since the cache's hand passed it last */
    struct event_summary *glance; /* event_summary.h; NULL: not made yet */
};

struct log_block *block_open(void);
void block_free(struct log_block *rows);
/* Packs an open block into new memory, which the caller frees. */
uint8_t *block_pack(const struct log_block *rows, size_t *size);
/* Takes over packed bytes, which 8 more bytes must follow. Returns NULL, with the bytes freed, if
 * they are not valid rows from this position on. */
struct log_block *block_load(uint8_t *bytes, size_t size, uint64_t position);
/* Returns an open copy with rows that can be changed. */
struct log_block *block_open_copy(const struct log_block *packed);

/* block_packing.c */
#define BLOCK_HEAD_BYTES (12u + 9u * FIELD_FIELDS)
/* Sets the places of the fields by their widths; returns the bytes of a row. */
uint32_t block_lay_out(struct block_layout *fields);

static inline uint64_t block_get(const struct log_block *rows, uint32_t i, enum block_field field)
{
    const struct block_layout *layout = &rows->fields[field];
    uint64_t word;
    memcpy(&word, rows->bytes + layout->byte + (size_t)i * layout->step, sizeof word);
    return ((word >> layout->shift) & layout->mask) + layout->least;
}

/* Prefetches a field that will be read soon. */
static inline void block_expect(const struct log_block *rows, uint32_t i, enum block_field field)
{
    __builtin_prefetch(rows->bytes + rows->fields[field].byte +
                       (size_t)i * rows->fields[field].step);
}

/* Returns the size of a value in an open block; block_column() returns where its column begins.
 * A gap keeps the same row of all columns from falling into one place of the processor's cache. */
static inline size_t block_column_bytes(enum block_field field)
{
    return field < FIELD_LINE ? 8 : field < FIELD_POINT ? 4 : field < FIELD_ACTIVE ? 2 : 1;
}

#define BLOCK_COLUMN_GAP 192u
#define BLOCK_COLUMN_BYTES 73u /* of one row */

static inline size_t block_column(enum block_field field)
{
    size_t f = field;
    size_t before = f <= FIELD_LINE     ? 8 * f
                    : f <= FIELD_POINT  ? 48 + 4 * (f - FIELD_LINE)
                    : f <= FIELD_ACTIVE ? 64 + 2 * (f - FIELD_POINT)
                                        : 70 + (f - FIELD_ACTIVE);
    return before * BLOCK_EVENTS + f * BLOCK_COLUMN_GAP;
}

/* Sets a field in an open block. */
static inline void block_set(struct log_block *rows, uint32_t i, enum block_field field,
                             uint64_t value)
{
    size_t bytes = block_column_bytes(field); /* little-endian, as block_get reads */
    memcpy(rows->bytes + block_column(field) + i * bytes, &value, bytes);
}

/* Lines are stored with the hidden bit last, which needs fewer bits. */
static inline uint32_t block_line_code(uint32_t line) { return line << 1 | line >> 31; }
static inline uint32_t block_line_of(uint64_t code)
{
    return (uint32_t)(code >> 1) | (uint32_t)(code & 1) << 31;
}

/* FIELD_EDGE: 0: none; distance << 2 | 1: an order edge; distance << 2 | 2: the send that it
 * receives; index << 2 | 3: extras[index] is the number of edges << 16 | the number of sends among
 * them, and the edges' distances follow, sends first. */
struct block_edges {
    uint32_t count, sends;
    uint64_t one; /* the distance if count is 1 and more is NULL */
    const uint64_t *more;
};

static inline struct block_edges block_edges(const struct log_block *rows, uint32_t i)
{
    uint64_t edge = block_get(rows, i, FIELD_EDGE);
    if ((edge & 3) != 3)
        return (struct block_edges){edge != 0, (edge & 3) == 2, edge >> 2, NULL};
    const uint64_t *extra = rows->extras + (edge >> 2);
    return (struct block_edges){(uint32_t)(*extra >> 16), (uint32_t)(*extra & 0xffff), 0,
                                extra + 1};
}

static inline uint64_t block_edge(const struct block_edges *edges, uint32_t i)
{
    return edges->more ? edges->more[i] : edges->one;
}

/* Sets the edges of row i, as distances. */
void block_set_edges(struct log_block *rows, uint32_t i, const uint64_t *distances, uint32_t count,
                     uint32_t sends);

#endif
