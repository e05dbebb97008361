/* Encoding of event ids and of occupants. */
#ifndef WIRE_EVENT_ID_H
#define WIRE_EVENT_ID_H

#include "wire/event_types.h"
#include "wire/message.h"

#define EVENT_ID_BYTES 12u

void encode_event_id(struct encoder *out, struct event_id ref);
struct event_id decode_event_id(struct decoder *in);

/* A count, and that many ids. The caller frees the decoded array. */
void encode_event_ids(struct encoder *out, const struct event_id *refs, uint32_t count);
struct event_id *decode_event_ids(struct decoder *in, uint32_t *count);

void encode_occupants(struct encoder *out, struct occupants presences);
struct occupants decode_occupants(struct decoder *in);
#define OCCUPANTS_BYTES 6u

#endif
