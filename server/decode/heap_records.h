/* HEAP, as a journal has it: what a program took from its heap. */
#ifndef SERVER_DECODE_HEAP_RECORDS_H
#define SERVER_DECODE_HEAP_RECORDS_H

#include "server/decode/usage_records.h"

/* False, with in->error: it cannot be read.  What threads took that are not announced counts as
 * that of one that is not recorded. */
bool heap_records_decode(const struct usage_target *by, struct decoder *in);

#endif
