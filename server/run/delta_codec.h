/* Delta codec of facts: encodes a fact as its difference from the last one of its kind.  There may
 * be millions of facts, one per line, and all of them are kept. */
#ifndef SERVER_RUN_DELTA_CODEC_H
#define SERVER_RUN_DELTA_CODEC_H

#include "server/tracefile/chunks.h"
#include "wire/message.h"

struct delta_codec; /* the last fact of each kind in one list */

struct delta_codec *delta_codec_new(void);
void delta_codec_reset(struct delta_codec *brief); /* begins another list */
void delta_codec_encode(struct delta_codec *brief, struct encoder *out, struct chunk fact);
/* Returns false at the end, or with in->error if the list is malformed.  The data is valid
 * until the next call. */
bool delta_codec_decode(struct delta_codec *brief, struct decoder *in, struct chunk *fact);
void delta_codec_free(struct delta_codec *brief);

#endif
