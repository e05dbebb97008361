/* Inside of saving an order: the bytes it is written as, and who writes what (save.c all of it, saved_lines.c a
 * line, saved_rest.c what lies beside the lines, pages.c when which lines are written). */
#ifndef SERVER_ORDER_SAVED_H
#define SERVER_ORDER_SAVED_H

#include "server/order/state.h"

#include <string.h>

struct bytes {
    uint8_t *data;
    size_t size, room;
};

/* Numbers in seven-bit groups, least first (LEB128). */
static inline void put(struct bytes *out, uint64_t v)
{
    if (out->room - out->size < 10)
        out->data = grow(out->data, &out->room, out->size + 10, 1);
    for (; v >= 128; v >>= 7)
        out->data[out->size++] = (uint8_t)(v | 128);
    out->data[out->size++] = (uint8_t)v;
}

static inline void put_plain(struct bytes *out, const void *data, size_t size)
{
    out->data = grow(out->data, &out->room, out->size + size + 1, 1);
    if (size)
        memcpy(out->data + out->size, data, size);
    out->size += size;
}

static inline void put_block(struct bytes *out, const void *data, size_t size)
{
    put(out, size);
    put_plain(out, data, size);
}

struct reading {
    const uint8_t *data;
    size_t size, at;
    bool bad;
};

static inline uint64_t get(struct reading *in)
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

/* A number of things that follow, each of at least a byte. */
static inline size_t get_count(struct reading *in)
{
    uint64_t n = get(in);
    if (n > in->size - in->at) {
        in->bad = true;
        return 0;
    }
    return (size_t)n;
}

static inline const uint8_t *get_block(struct reading *in, size_t *size)
{
    *size = get_count(in);
    const uint8_t *data = in->data + in->at;
    in->at += *size;
    return data;
}

static inline void put_event_ref(struct bytes *out, struct ref ref)
{
    put(out, block_line_code(ref.line));
    put(out, ref.number);
}

static inline struct ref get_event_ref(struct reading *in)
{
    uint64_t code = get(in), number = get(in);
    return (struct ref){block_line_of(code), number};
}

/* saved_lines.c.  The flags say which of its fields follow; one without any of LINE_TELLS is told together with those
 * behind it that are the same: it is followed by how many. */
#define LINE_TELLS (8191u & ~31u)
unsigned line_flags(const struct line *line);
void save_line(struct bytes *out, const struct line *line, unsigned flags);
bool save_is_same(const struct line *a, const struct line *b, unsigned flags);
/* whole: each with all of its fields, as older versions wrote them. */
void load_lines(struct reading *in, struct order *order, struct line *lines, size_t count,
                bool whole);

/* saved_rest.c: what lies beside the lines */
struct rest {
    struct bytes bytes; /* what is written of it, and not put on the shelf yet */
    uint64_t *places; /* of what is */
    size_t place_count, place_room;
    size_t late,
        late_end; /* from which on it is not written, and where it ended when the save began */
    size_t trouble, trouble_end;
    struct meeting *meeting; /* likewise; newer ones were not there when the save began */
    struct stream *stream;
    size_t stretch; /* of the stream */
};

void rest_freeze(struct order *order);
bool rest_write_next(struct order *order); /* some of it; true: all is written */
void rest_thaw(struct order *order);
void save_rest(struct bytes *out, const struct order *order); /* where it is */
void load_rest(struct reading *in, struct order *order);
void load_old_rest(struct reading *in, struct order *order);

/* pages.c */
struct copy { /* a line as it was when its page was frozen */
    uint32_t line; /* an index within its page */
    unsigned flags;
    size_t at, size; /* in `bytes` */
    uint32_t next; /* 1 + another one of this page, 0 none */
};

struct frozen {
    struct bytes state; /* the begin of what order_save_end returns */
    struct rest rest;
    struct copy *copies;
    size_t count, room;
    struct bytes bytes;
    struct copied { /* of the lines, of the hidden ones */
        uint8_t *has; /* a bit for each line */
        uint32_t *last; /* by page: 1 + its newest copy, 0 none */
        size_t lines;
        size_t next; /* pages before this one are written */
    } of[2];
    struct bytes page; /* the one that is put together */
    const struct copy **kept;
};

void pages_freeze(struct order *order); /* the lines are saved as they are now, whatever comes */
bool pages_write_next(struct order *order); /* one page; true: all are written */
void pages_thaw(struct order *order); /* then, or without: the others are written the next time */
void save_pages(struct bytes *out, const struct order *order, unsigned hidden);
void load_pages(struct reading *in, struct order *order, unsigned hidden);

#endif
