/* Room of a trace file that is taken ahead. */
#ifndef SERVER_TRACEFILE_PREALLOCATION_H
#define SERVER_TRACEFILE_PREALLOCATION_H

#include "server/tracefile/tracefile_state.h"

/* Room for so many bytes of the journal, and behind them for last words, up to `end`; false with
 * errno: the disk is full. */
bool preallocation_at(struct tracefile *file, uint64_t begin, uint64_t bytes, uint64_t end);
/* where the journal continues */
bool preallocation_reserve(struct tracefile *file, uint64_t bytes);
uint64_t preallocation_bytes(const struct tracefile *file); /* of last words */
void preallocation_give_back(struct tracefile *file);

#endif
