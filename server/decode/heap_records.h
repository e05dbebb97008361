/* HEAP, as a journal has it: what a program took from its heap. */
#ifndef SERVER_DECODE_HEAP_RECORDS_H
#define SERVER_DECODE_HEAP_RECORDS_H

#include "server/decode/os_records.h"

/* Decodes heap records.  Returns false with in->error if they are malformed.  Allocations of
 * undeclared threads count as those of an unrecorded thread. */
bool heap_records_decode(const struct usage_target *by, struct decoder *in);

#endif
