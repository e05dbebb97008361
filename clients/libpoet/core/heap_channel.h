/* Interface for libpoet-memory, which counts heap allocations: its channel to the server. */
#ifndef CLIENTS_LIBPOET_CORE_HEAP_CHANNEL_H
#define CLIENTS_LIBPOET_CORE_HEAP_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(default)

/* Hands over the memory of a heap (wire/heap_region.h); the caller keeps the descriptor. Returns
 * false if there is no server that could read it. */
bool poet_heap_begin(int fd);

/* State of the calling thread; as large as two registers. */
struct poet_heap_where {
    uint64_t event; /* number of its last event on its own line; 0: it has none */
    uint32_t thread; /* code of that line; 0: it is not recorded */
    uint8_t records; /* an event may be recorded now */
    uint8_t measures; /* its calls are measured */
    uint8_t stacks; /* the end of a stack that it is on may be known */
};
/* Async-signal-safe. */
struct poet_heap_where poet_heap_where(void);
uint32_t poet_heap_thread(void); /* Returns only the code of the thread's line. */
/* Returns the end of the stack that contains the address `at`, if it belongs to a task and its
 * runtime has registered it; 0: not known. */
uintptr_t poet_heap_stack_end(uintptr_t at);
/* Returns, for a thread that measures its calls, the serial of its region << 32 | the current
 * context (wire/profile_region.h); else 0. */
uint64_t poet_heap_context(void);
/* Writes the functions of such a context, innermost first, at most `most`; returns how many. */
uint32_t poet_heap_calls(uint64_t context, uint64_t *functions, uint32_t most);

#pragma GCC visibility pop
#endif
