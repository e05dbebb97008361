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

static uint8_t *out_grow(struct encoder *out, size_t size)
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
    /* no arithmetic on the NULL of an empty encoder */
    uint8_t *at = need ? out->data + out->size : out->data;
    out->size = need;
    return at;
}

static void encode_integer(struct encoder *out, uint64_t v, size_t bytes)
{
    uint8_t *at = out_grow(out, bytes);
    for (size_t i = 0; at && i < bytes; i++)
        at[i] = (uint8_t)(v >> (8 * i));
}

void encode_u8(struct encoder *out, uint8_t v) { encode_integer(out, v, 1); }
void encode_u16(struct encoder *out, uint16_t v) { encode_integer(out, v, 2); }
void encode_u32(struct encoder *out, uint32_t v) { encode_integer(out, v, 4); }
void encode_u64(struct encoder *out, uint64_t v) { encode_integer(out, v, 8); }

void encode_bytes(struct encoder *out, const void *data, size_t size)
{
    uint8_t *at = out_grow(out, size);
    if (at && size)
        memcpy(at, data, size);
}

void encode_string(struct encoder *out, const char *s)
{
    size_t size = s ? strlen(s) : 0;
    encode_u32(out, (uint32_t)size);
    encode_bytes(out, s, size);
}

void encoder_begin_message(struct encoder *out, enum message_type type)
{
    out->begun = out->size;
    encode_u32(out, 0);
    encode_u16(out, (uint16_t)type);
    encode_u16(out, MESSAGE_MARK);
}

void encoder_end_message(struct encoder *out)
{
    if (out->failed)
        return;
    size_t length = out->size - out->begun - MESSAGE_FRAME_BYTES;
    for (size_t i = 0; i < 4; i++)
        out->data[out->begun + i] = (uint8_t)(length >> (8 * i));
}

void encoder_free(struct encoder *out)
{
    free(out->data);
    *out = (struct encoder){0};
}

void encoder_consume(struct encoder *out, size_t bytes)
{
    if (bytes >= out->size) {
        out->size = 0;
        return;
    }
    memmove(out->data, out->data + bytes, out->size - bytes);
    out->size -= bytes;
}

struct decoder decoder_init(const void *data, size_t size)
{
    return (struct decoder){.data = data, .size = size};
}

void decoder_fail(struct decoder *in, const char *why)
{
    if (in->error)
        return;
    in->error = why;
    in->error_at = in->at;
}

const uint8_t *decode_bytes(struct decoder *in, size_t size)
{
    if (in->error)
        return NULL;
    if (size > in->size - in->at) {
        decoder_fail(in, "truncated message");
        return NULL;
    }
    const uint8_t *at = in->data + in->at;
    in->at += size;
    return at;
}

static uint64_t decode_integer(struct decoder *in, size_t bytes)
{
    const uint8_t *at = decode_bytes(in, bytes);
    uint64_t v = 0;
    for (size_t i = 0; at && i < bytes; i++)
        v |= (uint64_t)at[i] << (8 * i);
    return v;
}

uint8_t decode_u8(struct decoder *in) { return (uint8_t)decode_integer(in, 1); }
uint16_t decode_u16(struct decoder *in) { return (uint16_t)decode_integer(in, 2); }
uint32_t decode_u32(struct decoder *in) { return (uint32_t)decode_integer(in, 4); }
uint64_t decode_u64(struct decoder *in) { return decode_integer(in, 8); }

char *decode_string(struct decoder *in, size_t limit)
{
    size_t size = decode_u32(in);
    if (!in->error && size > limit)
        decoder_fail(in, "string too long");
    const uint8_t *at = decode_bytes(in, size);
    if (at && size && memchr(at, 0, size)) {
        decoder_fail(in, "string contains a NUL byte");
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

uint32_t decode_count(struct decoder *in, size_t least)
{
    uint32_t count = decode_u32(in);
    if (!in->error && count > decoder_remaining(in) / least)
        decoder_fail(in, "count exceeds message size");
    return in->error ? 0 : count;
}

void *decode_array(struct decoder *in, size_t count, size_t bytes)
{
    void *p = calloc(count ? count : 1, bytes);
    if (!p)
        decoder_fail(in, "out of memory");
    return p;
}

size_t decoder_remaining(const struct decoder *in) { return in->error ? 0 : in->size - in->at; }

bool decoder_finish(struct decoder *in)
{
    if (!in->error && in->at != in->size)
        decoder_fail(in, "trailing bytes in message");
    return !in->error;
}

int frame_read(const uint8_t *data, size_t size, size_t limit, unsigned *type, size_t *length,
               const char **why)
{
    if (size < MESSAGE_FRAME_BYTES)
        return 0;
    struct decoder in = decoder_init(data, size);
    *length = decode_u32(&in);
    *type = decode_u16(&in);
    if (decode_u16(&in) != MESSAGE_MARK) {
        *why = "not a Poet message";
        return -1;
    }
    if (*length > limit) {
        *why = "the message is too long";
        return -1;
    }
    return size - MESSAGE_FRAME_BYTES >= *length;
}
