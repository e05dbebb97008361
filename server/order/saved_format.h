/* The format of a saved order, and the functions that write and read its parts: order_save.c the
 * whole and a line, saved_rest.c the rest beside the lines, line_pages.c the selection of lines. */
#ifndef SERVER_ORDER_SAVED_FORMAT_H
#define SERVER_ORDER_SAVED_FORMAT_H

#include "server/order/order_state.h"

#include <string.h>

struct save_bytes {
    uint8_t *data;
    size_t size, room;
};

/* Writes a number in seven-bit groups, least significant first (LEB128). */
static inline void save_put_number(struct save_bytes *out, uint64_t v)
{
    if (out->room - out->size < 10)
        out->data = array_reserve(out->data, &out->room, out->size + 10, 1);
    for (; v >= 128; v >>= 7)
        out->data[out->size++] = (uint8_t)(v | 128);
    out->data[out->size++] = (uint8_t)v;
}

static inline void save_put_plain(struct save_bytes *out, const void *data, size_t size)
{
    out->data = array_reserve(out->data, &out->room, out->size + size + 1, 1);
    if (size)
        memcpy(out->data + out->size, data, size);
    out->size += size;
}

static inline void save_put_block(struct save_bytes *out, const void *data, size_t size)
{
    save_put_number(out, size);
    save_put_plain(out, data, size);
}

struct save_reader {
    const uint8_t *data;
    size_t size, at;
    bool bad;
};

static inline uint64_t save_get_number(struct save_reader *in)
{
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (in->at == in->size) {
            in->bad = true;
            return 0;
        }
        uint8_t byte = in->data[in->at++];
        v |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return v;
    }
    in->bad = true;
    return 0;
}

/* Reads the number of items that follow, each of at least one byte. */
static inline size_t save_get_count(struct save_reader *in)
{
    uint64_t n = save_get_number(in);
    if (n > in->size - in->at) {
        in->bad = true;
        return 0;
    }
    return (size_t)n;
}

static inline const uint8_t *save_get_block(struct save_reader *in, size_t *size)
{
    *size = save_get_count(in);
    const uint8_t *data = in->data + in->at;
    in->at += *size;
    return data;
}

static inline void save_put_event_ref(struct save_bytes *out, struct event_id ref)
{
    save_put_number(out, block_line_code(ref.line));
    save_put_number(out, ref.number);
}

static inline struct event_id save_get_event_ref(struct save_reader *in)
{
    uint64_t code = save_get_number(in), number = save_get_number(in);
    return (struct event_id){block_line_of(code), number};
}

/* order_save.c: The flags say which fields of a line follow. A line without any flag of LINE_TELLS
 * is followed by the number of equal lines after it, which are not written. */
#define LINE_TELLS (8191u & ~31u)
unsigned line_flags(const struct order_line *line);
void save_line(struct save_bytes *out, const struct order_line *line, unsigned flags);
bool save_is_same(const struct order_line *a, const struct order_line *b, unsigned flags);
void load_lines(struct save_reader *in, struct order *order, struct order_line *lines,
                size_t count);

/* saved_rest.c: the rest beside the lines */
struct save_rest_state {
    struct save_bytes bytes; /* bytes written, and not put into the block store yet */
    uint64_t *places; /* of the parts in the block store */
    size_t place_count, place_room;
    size_t late,
        /* The next late receive to write, and the number of them when the save began; the same of
         * inconsistencies. */
        late_end;
    size_t trouble, trouble_end;
    /* the next ones to write; newer ones did not exist when the save began */
    struct rendezvous *meeting;
    struct byte_stream *stream;
    size_t stretch; /* of the stream */
};

void save_rest_freeze(struct order *order);
bool save_rest_write_next(struct order *order); /* writes some of it; true: all is written */
void save_rest_thaw(struct order *order);
void save_rest(struct save_bytes *out, const struct order *order); /* writes where it is stored */
void load_rest(struct save_reader *in, struct order *order);

/* line_pages.c */
struct frozen_line { /* a line as it was when its page was frozen */
    uint32_t line; /* an index within its page */
    unsigned flags;
    size_t at, size; /* in `bytes` */
    uint32_t next; /* 1 + another copy of this page; 0: none */
};

struct frozen_save {
    struct save_bytes state; /* the beginning of what order_save_end returns */
    struct save_rest_state rest;
    struct frozen_line *copies;
    size_t count, room;
    struct save_bytes bytes;
    struct copied { /* of the lines, of the hidden ones */
        uint8_t *has; /* a bit for each line */
        uint32_t *last; /* by page: 1 + its newest copy; 0: none */
        size_t lines;
        size_t next; /* pages before this one are written */
    } of[2];
    struct save_bytes page; /* the one that is being written */
    const struct frozen_line **kept;
};

/* Freezes the lines: they are saved as they are now, whatever changes. */
void line_pages_freeze(struct order *order);
bool line_pages_write_next(struct order *order); /* writes one page; true: all are written */
/* Ends the save, complete or not: pages that were not written are written by the next one. */
void line_pages_thaw(struct order *order);
void save_pages(struct save_bytes *out, const struct order *order, unsigned hidden);
void load_pages(struct save_reader *in, struct order *order, unsigned hidden);

#endif
