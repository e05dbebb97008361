/* The smallest things that messages hold: names of events, and who is in a line. */
#ifndef WIRE_REF_H
#define WIRE_REF_H

#include "wire/event.h"
#include "wire/message.h"

#define REF_BYTES 12u

void put_ref(struct out *out, struct ref ref);
struct ref get_ref(struct in *in);

/* A count, and so many.  What is read is the caller's to free. */
void put_refs(struct out *out, const struct ref *refs, uint32_t count);
struct ref *get_refs(struct in *in, uint32_t *count);

void put_presences(struct out *out, struct presences presences);
struct presences get_presences(struct in *in);
#define PRESENCES_BYTES 6u

#endif
