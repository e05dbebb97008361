/* Hooks of all allocator calls: they count allocations and record invalid frees as events. */
#ifndef CLIENTS_LIBPOET_HEAP_ALLOC_HOOKS_H
#define CLIENTS_LIBPOET_HEAP_ALLOC_HOOKS_H

#include "base/likely.h"
#include "clients/libpoet/heap/heap_blocks.h"
#include "clients/libpoet/heap/stack_unwind.h"

#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

/* ---- the real allocator of the program: the C library's, or its own ---- */

/* clang-format off */
#define REAL_CALLS(C)                                                                              \
    C(void *, malloc, (size_t))                                                                    \
    C(void *, calloc, (size_t, size_t))                                                            \
    C(void *, realloc, (void *, size_t))                                                           \
    C(int, posix_memalign, (void **, size_t, size_t))                                              \
    C(void *, aligned_alloc, (size_t, size_t))                                                     \
    C(void *, memalign, (size_t, size_t))                                                          \
    C(void *, valloc, (size_t))                                                                    \
    C(void *, pvalloc, (size_t))                                                                   \
    C(size_t, malloc_usable_size, (void *))                                                        \
    C(void, free, (void *))                                                                        \
    C(int, dlclose, (void *))
/* clang-format on */

struct allocator_functions {
#define C(result, name, parameters) result(*name) parameters;
    REAL_CALLS(C)
#undef C
};
extern struct allocator_functions real_functions;
extern bool real_found;

/* Returns false if this very thread is looking up the functions. */
bool real_allocator_find(void);
static inline bool real_allocator_ready(void)
{
    return LIKELY(__atomic_load_n(&real_found, __ATOMIC_ACQUIRE)) || real_allocator_find();
}

/* Allocates during that lookup; the memory is never freed. */
void *real_allocator_first_alloc(size_t bytes);
bool real_allocator_is_first(const void *block);
size_t real_allocator_first_bytes(const void *block); /* Returns the requested size. */

/* ---- hooks ---- */

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

#pragma GCC visibility pop
#endif
