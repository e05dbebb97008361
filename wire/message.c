#include "wire/message.h"

#include <stdlib.h>
#include <string.h>

const char *message_name(unsigned type)
{
    switch (type) {
#define M(number, name)                                                                            \
    case number:                                                                                   \
        return #name;
        MESSAGES(M)
#undef M
    default:
        return "unknown";
    }
}

static uint8_t *out_grow(struct out *out, size_t size)
{
    if (out->failed || size > SIZE_MAX / 4 - out->size)
        return NULL;
    size_t need = out->size + size;
    if (need > out->room) {
        size_t room = out->room ? out->room * 2 : 256;
        while (room < need)
            room *= 2;
        uint8_t *data = realloc(out->data, room);
        if (!data) {
            out->failed = true;
            return NULL;
        }
        out->data = data;
        out->room = room;
    }
    uint8_t *at = need ? out->data + out->size : out->data; /* of nothing NULL */
    out->size = need;
    return at;
}

static void put_integer(struct out *out, uint64_t v, size_t bytes)
{
    uint8_t *at = out_grow(out, bytes);
    for (size_t i = 0; at && i < bytes; i++)
        at[i] = (uint8_t)(v >> (8 * i));
}

void put_u8(struct out *out, uint8_t v) { put_integer(out, v, 1); }
void put_u16(struct out *out, uint16_t v) { put_integer(out, v, 2); }
void put_u32(struct out *out, uint32_t v) { put_integer(out, v, 4); }
void put_u64(struct out *out, uint64_t v) { put_integer(out, v, 8); }

void put_bytes(struct out *out, const void *data, size_t size)
{
    uint8_t *at = out_grow(out, size);
    if (at && size)
        memcpy(at, data, size);
}

void put_string(struct out *out, const char *s)
{
    size_t size = s ? strlen(s) : 0;
    put_u32(out, (uint32_t)size);
    put_bytes(out, s, size);
}

void out_begin(struct out *out, enum message type)
{
    out->begun = out->size;
    put_u32(out, 0);
    put_u16(out, (uint16_t)type);
    put_u16(out, MESSAGE_MARK);
}

void out_end(struct out *out)
{
    if (out->failed)
        return;
    size_t length = out->size - out->begun - MESSAGE_FRAME_BYTES;
    for (size_t i = 0; i < 4; i++)
        out->data[out->begun + i] = (uint8_t)(length >> (8 * i));
}

void out_free(struct out *out)
{
    free(out->data);
    *out = (struct out){0};
}

void out_drop(struct out *out, size_t bytes)
{
    if (bytes >= out->size) {
        out->size = 0;
        return;
    }
    memmove(out->data, out->data + bytes, out->size - bytes);
    out->size -= bytes;
}

struct in in_from(const void *data, size_t size) { return (struct in){.data = data, .size = size}; }

void in_fail(struct in *in, const char *why)
{
    if (in->error)
        return;
    in->error = why;
    in->error_at = in->at;
}

const uint8_t *get_bytes(struct in *in, size_t size)
{
    if (in->error)
        return NULL;
    if (size > in->size - in->at) {
        in_fail(in, "ends too early");
        return NULL;
    }
    const uint8_t *at = in->data + in->at;
    in->at += size;
    return at;
}

static uint64_t get_integer(struct in *in, size_t bytes)
{
    const uint8_t *at = get_bytes(in, bytes);
    uint64_t v = 0;
    for (size_t i = 0; at && i < bytes; i++)
        v |= (uint64_t)at[i] << (8 * i);
    return v;
}

uint8_t get_u8(struct in *in) { return (uint8_t)get_integer(in, 1); }
uint16_t get_u16(struct in *in) { return (uint16_t)get_integer(in, 2); }
uint32_t get_u32(struct in *in) { return (uint32_t)get_integer(in, 4); }
uint64_t get_u64(struct in *in) { return get_integer(in, 8); }

char *get_string(struct in *in, size_t limit)
{
    size_t size = get_u32(in);
    if (!in->error && size > limit)
        in_fail(in, "a string is too long");
    const uint8_t *at = get_bytes(in, size);
    if (at && size && memchr(at, 0, size)) {
        in_fail(in, "a string holds a zero byte");
        at = NULL;
    }
    if (!at)
        size = 0;
    char *s = malloc(size + 1);
    if (!s)
        return NULL;
    if (size)
        memcpy(s, at, size);
    s[size] = 0;
    return s;
}

uint32_t get_count(struct in *in, size_t least)
{
    uint32_t count = get_u32(in);
    if (!in->error && count > in_left(in) / least)
        in_fail(in, "a count is larger than what follows");
    return in->error ? 0 : count;
}

void *get_room(struct in *in, size_t count, size_t bytes)
{
    void *p = calloc(count ? count : 1, bytes);
    if (!p)
        in_fail(in, "out of memory");
    return p;
}

size_t in_left(const struct in *in) { return in->error ? 0 : in->size - in->at; }

bool in_done(struct in *in)
{
    if (!in->error && in->at != in->size)
        in_fail(in, "is longer than its content");
    return !in->error;
}

int frame_read(const uint8_t *data, size_t size, size_t limit, unsigned *type, size_t *length,
               const char **error)
{
    if (size < MESSAGE_FRAME_BYTES)
        return 0;
    struct in in = in_from(data, size);
    *length = get_u32(&in);
    *type = get_u16(&in);
    if (get_u16(&in) != MESSAGE_MARK) {
        *error = "not a Poet message";
        return -1;
    }
    if (*length > limit) {
        *error = "the message is too long";
        return -1;
    }
    return size - MESSAGE_FRAME_BYTES >= *length;
}
