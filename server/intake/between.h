/* What programs tell of streams between machines. */
#ifndef SERVER_INTAKE_BETWEEN_H
#define SERVER_INTAKE_BETWEEN_H

#include "server/run/run.h"
#include "wire/message.h"

/* FAR: an end of one, by a thread with that line (0 not known); HOLE: bytes that no event wrote.  False with in->error. */
bool between_end(struct run *run, struct in *in, uint32_t line);
bool between_hole(struct run *run, struct in *in);
/* That its other end was not told in time, as a server noted; false: it cannot be read. */
bool between_alone(struct run *run, const uint8_t *body, size_t size);
void between_put_alone(struct out *out, uint64_t stream);

#endif
