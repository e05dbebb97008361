/* For libpoet-memory, which counts what the program takes from its heap: its way to the server. */
#ifndef CLIENTS_LIBPOET_CORE_HEAP_CHANNEL_H
#define CLIENTS_LIBPOET_CORE_HEAP_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(default)

/* Hands the memory of a heap over (wire/heap_region.h); the descriptor stays the caller's.  False:
 * there is no server that could read it. */
bool poet_heap_begin(int fd);

/* Where the calling thread is; as large as two registers. */
struct poet_heap_where {
    uint64_t event; /* number of its last event on its own line; 0: it has none */
    uint32_t thread; /* code of that line; 0: it is not recorded */
    uint8_t records; /* an event may be recorded now */
    uint8_t measures; /* its calls are measured */
    uint8_t stacks; /* where a stack that it is on ends may be known */
};
/* Any signal handler may call these. */
struct poet_heap_where poet_heap_where(void);
uint32_t poet_heap_thread(void); /* its thread alone */
/* Where the stack that the place `at` lies in ends, of a task whose runtime has said so; 0: not
 * known. */
uintptr_t poet_heap_stack_end(uintptr_t at);
/* Of one that measures its calls: its region's serial << 32 | the context that it is in
 * (wire/profile_region.h), 0: none. */
uint64_t poet_heap_context(void);
/* The functions that such a context lies in, the innermost first; `most` at most: how many. */
uint32_t poet_heap_calls(uint64_t context, uint64_t *functions, uint32_t most);

#pragma GCC visibility pop
#endif
