/* The real allocator of the program: the C library's, or its own. */
#ifndef CLIENTS_LIBPOET_HEAP_REAL_ALLOCATOR_H
#define CLIENTS_LIBPOET_HEAP_REAL_ALLOCATOR_H

#include "base/likely.h"
#include <stdbool.h>
#include <stddef.h>

#pragma GCC visibility push(hidden)

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

#pragma GCC visibility pop
#endif
