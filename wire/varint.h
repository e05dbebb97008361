/* Variable-length integers: seven bits per byte, the least significant first; the high bit means
 * that more bytes follow. */
#ifndef WIRE_VARINT_H
#define WIRE_VARINT_H

#include "wire/message.h"

void encode_varint(struct encoder *out, uint64_t number);
/* Returns 0, with in->error, if it exceeds 64 bits or is incomplete. */
uint64_t decode_varint(struct decoder *in);

#endif
