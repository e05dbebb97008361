/* malloc and its family. */
#define _GNU_SOURCE
#include "clients/libpoet/heap/alloc_hooks.h"
#include "clients/libpoet/heap/real_allocator.h"
#include "clients/libpoet/heap/unwind_rules.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

API void *malloc(size_t bytes)
{
    if (!real_allocator_ready())
        return real_allocator_first_alloc(bytes);
    return alloc_hook_allocated(real_functions.malloc(bytes), bytes, HEAP_MALLOC, FRAME);
}

API void *calloc(size_t count, size_t bytes)
{
    if (!real_allocator_ready())
        return bytes && count > SIZE_MAX / bytes ? NULL : real_allocator_first_alloc(count * bytes);
    return alloc_hook_allocated(real_functions.calloc(count, bytes), count * bytes, HEAP_MALLOC,
                                FRAME);
}

/* Moves a block of libpoet-memory's to the program's allocator. */
static void *malloc_call_resize_first(void *block, size_t bytes)
{
    size_t had = real_allocator_first_bytes(block);
    void *larger =
        real_allocator_ready() ? real_functions.malloc(bytes) : real_allocator_first_alloc(bytes);
    if (larger)
        memcpy(larger, block, had < bytes ? had : bytes);
    return larger;
}

static void *malloc_call_resize(void *block, size_t bytes, const uintptr_t *frame)
{
    if (real_allocator_is_first(block))
        return alloc_hook_allocated(malloc_call_resize_first(block, bytes), bytes, HEAP_MALLOC,
                                    frame);
    /* of NULL: nothing else was allocated yet */
    if (!real_allocator_ready())
        return real_allocator_first_alloc(bytes);
    struct freed_block was = {.known = false};
    alloc_hook_moving();
    if (block)
        alloc_hook_freed(block, HEAP_MALLOC, frame, &was);
    void *after = real_functions.realloc(block, bytes);
    if (after)
        alloc_hook_allocated(after, bytes, HEAP_MALLOC, frame);
    else if (bytes)
        alloc_hook_restored(&was, frame);
    return after;
}

API void *realloc(void *block, size_t bytes) { return malloc_call_resize(block, bytes, FRAME); }

API void *reallocarray(void *block, size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return malloc_call_resize(block, all, FRAME);
}

API int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    if (!real_allocator_ready() || !real_functions.posix_memalign)
        return ENOMEM;
    int problem = real_functions.posix_memalign(block, alignment, bytes);
    if (!problem)
        alloc_hook_allocated(*block, bytes, HEAP_MALLOC, FRAME);
    return problem;
}

#define ALIGNED(name)                                                                              \
    API void *name(size_t alignment, size_t bytes)                                                 \
    {                                                                                              \
        void *block = real_allocator_ready() && real_functions.name                                \
                          ? real_functions.name(alignment, bytes)                                  \
                          : NULL;                                                                  \
        return alloc_hook_allocated(block, bytes, HEAP_MALLOC, FRAME);                             \
    }
ALIGNED(aligned_alloc)
ALIGNED(memalign)

#define OF_PAGES(name)                                                                             \
    API void *name(size_t bytes)                                                                   \
    {                                                                                              \
        void *block =                                                                              \
            real_allocator_ready() && real_functions.name ? real_functions.name(bytes) : NULL;     \
        return alloc_hook_allocated(block, bytes, HEAP_MALLOC, FRAME);                             \
    }
OF_PAGES(valloc)
OF_PAGES(pvalloc)

API void free(void *block)
{
    if (real_allocator_is_first(block) || !real_allocator_ready())
        return;
    alloc_hook_freed(block, HEAP_MALLOC, FRAME, NULL);
    real_functions.free(block);
}

/* Other code may be loaded at the same addresses afterwards. */
API int dlclose(void *handle)
{
    if (!real_allocator_ready() || !real_functions.dlclose)
        return -1;
    int result = real_functions.dlclose(handle);
    unwind_rules_forget();
    return result;
}
