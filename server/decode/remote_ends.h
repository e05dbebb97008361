/* Decodes programs' reports about streams between hosts. */
#ifndef SERVER_DECODE_REMOTE_ENDS_H
#define SERVER_DECODE_REMOTE_ENDS_H

#include "server/run/run.h"
#include "wire/message.h"

/* FAR: an end of one, by a thread with that line (0 not known); HOLE: bytes that no event wrote.
 * Returns false with in->error if the body is malformed. */
bool remote_end_decode(struct run *run, struct decoder *in, uint32_t line);
bool remote_end_decode_gap(struct run *run, struct decoder *in);
/* Decodes a server's note that the other end of a stream was not reported in time; returns false
 * if it is malformed. */
bool remote_end_decode_alone(struct run *run, const uint8_t *body, size_t size);
void remote_end_encode_alone(struct encoder *out, uint64_t stream);

#endif
