/* Hooks of all allocator calls: they count allocations and record invalid frees as events. */
#ifndef CLIENTS_LIBPOET_HEAP_ALLOC_HOOKS_H
#define CLIENTS_LIBPOET_HEAP_ALLOC_HOOKS_H

#include "clients/libpoet/heap/heap_blocks.h"
#include "clients/libpoet/heap/stack_unwind.h"

#pragma GCC visibility push(hidden)

enum alloc_hook_inside {
    ALLOC_HOOK_OUTSIDE,
    ALLOC_HOOK_COUNTING, /* counting: allocations of an interrupting handler are not counted */
    ALLOC_HOOK_LIBPOET /* allocations are not the program's */
};

/* State of the calling thread. */
struct alloc_hook_state {
    unsigned inside; /* an enum alloc_hook_inside */
    struct heap_thread_cache blocks;
    struct stack_unwind_cache walk;
};
extern __thread struct alloc_hook_state alloc_hook_thread
    __attribute__((tls_model("initial-exec")));

/* The frame of the function that the program called: the frame pointer is stored there, and above
 * it the return address. */
#define FRAME ((const uintptr_t *)__builtin_frame_address(0))
#define API __attribute__((visibility("default")))

/* Counts a block that was allocated (NULL: allocation failed). Returns it. */
void *alloc_hook_allocated(void *block, size_t bytes, enum heap_kind kind, const uintptr_t *frame);
/* Called before a block is freed by free and the like (HEAP_MALLOC), delete or delete[]; was: NULL,
 * or set to what it was. */
void alloc_hook_freed(const void *block, enum heap_kind kind, const uintptr_t *frame,
                      struct freed_block *was);
void alloc_hook_restored(const struct freed_block *was, const uintptr_t *frame);
/* The next free is part of a move: it does not count as freed shortly after its allocation. */
void alloc_hook_moving(void);

/* Blocks that are allocated and freed before counting begins are known up to this number. */
#define EARLY_MOST 4096u
void early_alloc_add(const void *block, size_t bytes, enum heap_kind kind);
bool early_alloc_remove(const void *block);
uint32_t early_alloc_count(void);
const void *early_alloc_get(uint32_t i, size_t *bytes, enum heap_kind *kind);
bool early_alloc_is_complete(void); /* Returns whether none was missed. */

/* Events of invalid frees. */
void invalid_free_begin(void); /* Must be called before any other. */
void invalid_free_forked(void); /* Called in a child: the parent's blocks are not known. */
/* Records an invalid free, with its stack; `was` as found by heap_block_remove. */
void invalid_free_report(void *heap, struct poet_heap_where where, enum heap_fault fault,
                         const void *block, const struct freed_block *was, const uintptr_t *frame);
/* Returns whether the call was made by the C library or the loader. */
bool invalid_free_is_library_call(const uintptr_t *frame);
/* Returns the enum heap_fault of an address that is not a block, or HEAP_FAULTS: it may have been
 * one. */
enum heap_fault invalid_free_classify(void *heap, const void *block, const struct freed_block *was,
                                      const uintptr_t *frame);

#pragma GCC visibility pop
#endif
