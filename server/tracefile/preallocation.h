/* Preallocated space of a trace file. */
#ifndef SERVER_TRACEFILE_PREALLOCATION_H
#define SERVER_TRACEFILE_PREALLOCATION_H

#include "server/tracefile/tracefile_state.h"

/* Reserves space for `bytes` bytes of the journal from `begin` on, and for the last chunks after
 * them, but not beyond `end`.  Returns false with errno if the disk is full. */
bool preallocation_at(struct tracefile *file, uint64_t begin, uint64_t bytes, uint64_t end);
/* does the same where the journal continues */
bool preallocation_reserve(struct tracefile *file, uint64_t bytes);
uint64_t preallocation_bytes(const struct tracefile *file); /* space for the last chunks of a run */
void preallocation_give_back(struct tracefile *file);

#endif
