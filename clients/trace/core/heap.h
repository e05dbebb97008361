/* For libpoet-memory, which counts what the program takes from its heap: its way to the server. */
#ifndef CLIENTS_TRACE_CORE_HEAP_H
#define CLIENTS_TRACE_CORE_HEAP_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(default)

/* Hands the memory of a heap over (wire/heap.h); the descriptor stays the caller's.  False: there is no server that
 * could read it. */
bool poet_heap_begin(int fd);
/* Code of the calling thread's own line, and the number of its last event there; 0: it is not recorded, it has none.
 * Any signal handler may call it. */
uint32_t poet_heap_thread(uint64_t *event);

#pragma GCC visibility pop
#endif
