/* Numbers that take as many bytes as they need: seven bits a byte, the least first; the high bit:
 * more follow. */
#ifndef WIRE_VARINT_H
#define WIRE_VARINT_H

#include "wire/message.h"

void encode_varint(struct encoder *out, uint64_t number);
/* 0, with in->error: it is longer than 64 bits, or there is no end. */
uint64_t decode_varint(struct decoder *in);

#endif
