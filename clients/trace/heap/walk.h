/* The stack of the calling thread, as a node of the heap (wire/heap.h). */
#ifndef CLIENTS_TRACE_HEAP_WALK_H
#define CLIENTS_TRACE_HEAP_WALK_H

#include "clients/trace/core/heap.h"
#include "wire/heap.h"

#include <stdint.h>

#pragma GCC visibility push(hidden)

#define WALK_KNOWN 64u

/* A caller's registers, as they were at the call. */
struct standing {
    uintptr_t site, stack, frame;
};

/* What a thread remembers of its stacks; zero-initialised.  Of the last one, the outermost place first: */
struct walk_mine {
    uint32_t count;
    uint32_t end; /* how it ended */
    struct standing at[HEAP_DEPTH];
    const uintptr_t
        *saved[HEAP_DEPTH]; /* where its caller's frame pointer lies; NULL: in its register */
    uint32_t node[HEAP_DEPTH];
    struct {
        uint64_t site, context; /* as poet_heap_context() has it */
        uint32_t node;
    } known[WALK_KNOWN];
};

void walk_begin(void); /* by the first thread */
/* frame: of the function that was called and whose caller is to be known; site: within that call. */
uint32_t walk_node(void *heap, struct walk_mine *mine, struct poet_heap_where where,
                   const uintptr_t *frame);

#pragma GCC visibility pop
#endif
