#include "wire/varied.h"

void put_varied(struct out *out, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        put_u8(out, (uint8_t)(number | 0x80));
    put_u8(out, (uint8_t)number);
}

uint64_t get_varied(struct in *in)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64 && !in->error; shift += 7) {
        uint8_t byte = get_u8(in);
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return number;
    }
    in_fail(in, "a number of too many bytes");
    return 0;
}
