/* malloc and its family. */
#define _GNU_SOURCE
#include "clients/trace/heap/counting.h"
#include "clients/trace/heap/real.h"
#include "clients/trace/heap/rules.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

API void *malloc(size_t bytes)
{
    if (!real_ready())
        return first_take(bytes);
    return counting_taken(real.malloc(bytes), bytes, HEAP_MALLOC, FRAME);
}

API void *calloc(size_t count, size_t bytes)
{
    if (!real_ready())
        return bytes && count > SIZE_MAX / bytes ? NULL : first_take(count * bytes);
    return counting_taken(real.calloc(count, bytes), count * bytes, HEAP_MALLOC, FRAME);
}

/* A block of ours goes over to the program's allocator. */
static void *resize_first(void *block, size_t bytes)
{
    size_t had = first_bytes(block);
    void *larger = real_ready() ? real.malloc(bytes) : first_take(bytes);
    if (larger)
        memcpy(larger, block, had < bytes ? had : bytes);
    return larger;
}

static void *resized(void *block, size_t bytes, const uintptr_t *frame)
{
    if (is_first(block))
        return counting_taken(resize_first(block, bytes), bytes, HEAP_MALLOC, frame);
    if (!real_ready())
        return first_take(bytes); /* of NULL: nothing else was given out yet */
    struct heap_was was = {.known = false};
    counting_moves();
    if (block)
        counting_given(block, HEAP_MALLOC, frame, &was);
    void *after = real.realloc(block, bytes);
    if (after)
        counting_taken(after, bytes, HEAP_MALLOC, frame);
    else if (bytes)
        counting_put_back(&was, frame);
    return after;
}

API void *realloc(void *block, size_t bytes) { return resized(block, bytes, FRAME); }

API void *reallocarray(void *block, size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return resized(block, all, FRAME);
}

API int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    if (!real_ready() || !real.posix_memalign)
        return ENOMEM;
    int problem = real.posix_memalign(block, alignment, bytes);
    if (!problem)
        counting_taken(*block, bytes, HEAP_MALLOC, FRAME);
    return problem;
}

#define ALIGNED(name)                                                                              \
    API void *name(size_t alignment, size_t bytes)                                                 \
    {                                                                                              \
        void *block = real_ready() && real.name ? real.name(alignment, bytes) : NULL;              \
        return counting_taken(block, bytes, HEAP_MALLOC, FRAME);                                   \
    }
ALIGNED(aligned_alloc)
ALIGNED(memalign)

#define OF_PAGES(name)                                                                             \
    API void *name(size_t bytes)                                                                   \
    {                                                                                              \
        void *block = real_ready() && real.name ? real.name(bytes) : NULL;                         \
        return counting_taken(block, bytes, HEAP_MALLOC, FRAME);                                   \
    }
OF_PAGES(valloc)
OF_PAGES(pvalloc)

API void free(void *block)
{
    if (is_first(block) || !real_ready())
        return;
    counting_given(block, HEAP_MALLOC, FRAME, NULL);
    real.free(block);
}

/* Where code was there may be other code afterwards. */
API int dlclose(void *handle)
{
    if (!real_ready() || !real.dlclose)
        return -1;
    int result = real.dlclose(handle);
    rules_forget();
    return result;
}
