/* Stack unwinder: the stack of the calling thread, as a node of the heap (wire/heap_region.h). */
#ifndef CLIENTS_LIBPOET_HEAP_STACK_UNWIND_H
#define CLIENTS_LIBPOET_HEAP_STACK_UNWIND_H

#include "base/likely.h"
#include "clients/libpoet/core/heap_channel.h"
#include "clients/libpoet/unwind/stack_walk.h"
#include "wire/heap_region.h"

#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

#define STACK_UNWIND_CACHED 64u

/* A thread's cache of its last stack; zero-initialized. Outermost call site first: */
struct stack_unwind_cache {
    uint32_t count;
    uint32_t end; /* how it ended */
    struct unwind_position at[HEAP_DEPTH];
    /* address of its caller's saved frame pointer, or of a copy */
    const uintptr_t *saved[HEAP_DEPTH];
    uint32_t node[HEAP_DEPTH];
    struct {
        uint64_t site, context; /* as poet_heap_context() has it */
        uint32_t node;
    } known[STACK_UNWIND_CACHED];
};

void stack_unwind_begin(void); /* Called by the first thread. */
/* frame: of the called function, of which the caller is wanted; site: within that call. */
uint32_t stack_unwind_new_node(void *heap, struct stack_unwind_cache *mine,
                               struct poet_heap_where where, const uintptr_t *frame);

/* Returns whether a frame of the stack is unchanged, so that the frames above it can be compared
 * without unwinding them again: return address and frame pointer are the same. */
static inline bool stack_unwind_is_above(const struct stack_unwind_cache *mine, uint32_t i)
{
    for (; i > 0; i--) {
        const struct unwind_position *above = &mine->at[i - 1];
        if (((const uintptr_t *)above->stack)[-1] != above->site + 1 ||
            *mine->saved[i] != above->frame)
            return false;
    }
    return true;
}

/* Most often the stack is the same as the last one. */
static inline uint32_t stack_unwind_find_node(void *heap, struct stack_unwind_cache *mine,
                                              struct poet_heap_where where, const uintptr_t *frame)
{
    if (LIKELY(mine->count != 0 && mine->end == HEAP_NODE_WHOLE)) {
        uint32_t last = mine->count - 1;
        const struct unwind_position *at = &mine->at[last];
        if (at->site + 1 == frame[1] && at->stack == (uintptr_t)(frame + 2) &&
            at->frame == frame[0] && stack_unwind_is_above(mine, last))
            return mine->node[last];
    }
    return stack_unwind_new_node(heap, mine, where, frame);
}

#pragma GCC visibility pop
#endif
