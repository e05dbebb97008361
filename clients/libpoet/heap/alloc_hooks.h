/* What the calls of the allocator have in common: they are counted, and what is wrong with them
 * becomes an event. */
#ifndef CLIENTS_LIBPOET_HEAP_ALLOC_HOOKS_H
#define CLIENTS_LIBPOET_HEAP_ALLOC_HOOKS_H

#include "clients/libpoet/heap/heap_blocks.h"
#include "clients/libpoet/heap/stack_unwind.h"

#pragma GCC visibility push(hidden)

enum alloc_hook_inside {
    ALLOC_HOOK_OUTSIDE,
    ALLOC_HOOK_COUNTING, /* what a handler allocates in between is unseen */
    ALLOC_HOOK_LIBPOET /* what is allocated is not the program's */
};

/* Of the calling thread. */
struct alloc_hook_state {
    unsigned inside; /* an enum alloc_hook_inside */
    struct heap_thread_cache blocks;
    struct stack_unwind_cache walk;
};
extern __thread struct alloc_hook_state alloc_hook_thread
    __attribute__((tls_model("initial-exec")));

/* Of the function that the program called: its frame pointer lies there, and above it where it goes
 * back to. */
#define FRAME ((const uintptr_t *)__builtin_frame_address(0))
#define API __attribute__((visibility("default")))

/* A block was taken, NULL: it was not.  Gives it back. */
void *alloc_hook_allocated(void *block, size_t bytes, enum heap_kind kind, const uintptr_t *frame);
/* Before it is freed, by free and the like (HEAP_MALLOC), delete or delete[]; was: NULL, or what it
 * was. */
void alloc_hook_freed(const void *block, enum heap_kind kind, const uintptr_t *frame,
                      struct freed_block *was);
void alloc_hook_restored(const struct freed_block *was, const uintptr_t *frame);
/* The next to be given back is not so soon after it was taken: it is only to be moved. */
void alloc_hook_moving(void);

/* Blocks that are taken and given back before counting begins are known then. */
#define EARLY_MOST 4096u
void early_alloc_add(const void *block, size_t bytes, enum heap_kind kind);
bool early_alloc_remove(const void *block);
uint32_t early_alloc_count(void);
const void *early_alloc_get(uint32_t i, size_t *bytes, enum heap_kind *kind);
bool early_alloc_is_complete(void); /* none was missed */

/* The events of what is wrong. */
void invalid_free_begin(void); /* before any */
void invalid_free_forked(void); /* in a child: which blocks its parent had is not known */
/* Written down, too, with its stack; `was` as heap_block_remove found it. */
void invalid_free_report(void *heap, struct poet_heap_where where, enum heap_fault fault,
                         const void *block, const struct freed_block *was, const uintptr_t *frame);
/* Is the call one of the C library or the loader? */
bool invalid_free_is_library_call(const uintptr_t *frame);
/* An enum heap_fault of what is no block, or HEAP_FAULTS: it may have been one. */
enum heap_fault invalid_free_classify(void *heap, const void *block, const struct freed_block *was,
                                      const uintptr_t *frame);

#pragma GCC visibility pop
#endif
