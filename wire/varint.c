#include "wire/varint.h"

void encode_varint(struct encoder *out, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        encode_u8(out, (uint8_t)(number | 0x80));
    encode_u8(out, (uint8_t)number);
}

uint64_t decode_varint(struct decoder *in)
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
