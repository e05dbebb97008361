/* Variable-length integers: seven bits per byte, the least significant first; the high bit means
 * that more bytes follow. */
#ifndef WIRE_VARINT_H
#define WIRE_VARINT_H

#include "wire/message.h"

static inline void encode_varint(struct encoder *out, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        encode_u8(out, (uint8_t)(number | 0x80));
    encode_u8(out, (uint8_t)number);
}

/* Returns 0, with in->error, if it exceeds 64 bits or is incomplete. */
static inline uint64_t decode_varint(struct decoder *in)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && !in->error; shift += 7) {
        uint8_t byte = decode_u8(in);
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return number;
    }
    decoder_fail(in, "number too long");
    return 0;
}

#endif
